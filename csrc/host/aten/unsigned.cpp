// SPDX-License-Identifier: Apache-2.0
#include "aten/unsigned.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <c10/core/DispatchKey.h>

#include <optional>
#include <utility>

#include "aten/ascend_dtypes.h"
#include "aten/cpu_call.h"
#include "aten/plan.h"

namespace npu_backend {
namespace {

using torch::jit::Stack;

std::optional<c10::ScalarType> SignedOf(c10::ScalarType dtype) {
  if (dtype == c10::ScalarType::UInt64) return c10::ScalarType::Long;
  if (dtype == c10::ScalarType::UInt32) return c10::ScalarType::Int;
  if (dtype == c10::ScalarType::UInt16) return c10::ScalarType::Short;
  return std::nullopt;
}

/// Whether a sum with x has the dtype of x: y has it as well, or is an integer of Python.
bool KeepsDtype(const at::Tensor& x, const at::Tensor& y) {
  if (y.scalar_type() == x.scalar_type()) return true;
  return y.unsafeGetTensorImpl()->is_wrapped_number() &&
         c10::isIntegralType(y.scalar_type(), /*includeBool=*/true);
}

/// The unsigned dtype of a sum of a and b, if these are what Modular is for.
std::optional<c10::ScalarType> UnsignedOf(const at::Tensor& a, const at::Tensor& b) {
  if (SignedOf(a.scalar_type()) && KeepsDtype(a, b)) return a.scalar_type();
  if (SignedOf(b.scalar_type()) && KeepsDtype(b, a)) return b.scalar_type();
  return std::nullopt;
}

at::Tensor Signed(const at::Tensor& x) {
  const auto dtype = SignedOf(x.scalar_type());
  return dtype ? x.view(*dtype) : x;
}

/// Runs op on the arguments of stack as signed integers; leaves its result there.
at::Tensor CallSigned(const c10::OperatorHandle& op, Stack* stack, c10::IValue* arguments) {
  arguments[0] = Signed(arguments[0].toTensor());
  arguments[1] = Signed(arguments[1].toTensor());
  CallOnCpu(op, stack);
  return torch::jit::pop(*stack).toTensor();
}

}  // namespace

bool IsModular(const c10::OperatorName& op) {
  for (const char* name : {"aten::add", "aten::sub", "aten::mul"}) {
    if (op.name == name) return op.overload_name == "Tensor" || op.overload_name == "out";
    if (op.name == std::string(name) + "_") return op.overload_name == "Tensor";
  }
  return false;
}

void Modular(const c10::OperatorHandle& op, Stack* stack) {
  c10::IValue* arguments = stack->data() + stack->size() - op.schema().arguments().size();
  const auto dtype = UnsignedOf(arguments[0].toTensor(), arguments[1].toTensor());
  if (C10_LIKELY(!dtype)) return CallOnCpu(op, stack);
  CheckAscendDtypes(op, PlanOf(op), arguments);
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const c10::OperatorName& name = op.operator_name();
  if (name.overload_name == "out") {
    const at::Tensor out = torch::jit::pop(*stack).toTensor();
    const auto functional =
        c10::Dispatcher::singleton().findSchemaOrThrow(name.name.c_str(), "Tensor");
    const at::Tensor result = CallSigned(functional, stack, arguments).view(*dtype);
    at::native::resize_output(out, result.sizes());
    torch::jit::push(*stack, out.copy_(result));
    return;
  }
  const at::Tensor self = arguments[0].toTensor();
  const bool in_place = name.name.back() == '_';
  const at::Tensor result = CallSigned(op, stack, arguments);
  torch::jit::push(*stack, in_place ? self : result.view(*dtype));
}

}  // namespace npu_backend
