// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "aten/cpu_call.h"
#include "aten/direct.h"
#include "aten/unsigned.h"
#include "device/registration.h"

namespace npu_backend {
namespace {

using c10::DispatchKey;

template <DispatchKey key>
void Fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  CallOnCpu(op, stack, key);
}

template <DispatchKey key>
torch::CppFunction Boxed() {
  return torch::CppFunction::makeFromBoxedFunction<&Fallback<key>>();
}

bool HasFormula(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) ||
         op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
         op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional);
}

/// They move between devices, which CallOnCpu does not: copy.cpp has them for nested tensors.
bool IsMove(const c10::OperatorName& name) {
  return name.name == "aten::copy_" || name.name == "aten::_to_copy";
}

/// Where an operator has a kernel for such CPU tensors and a formula for any device, the formula is
/// for others: it would win over the fallback.
template <DispatchKey cpu, DispatchKey npu>
void DefineOther() {
  Implement("_", npu).fallback(Boxed<cpu>());
  torch::Library& aten = Implement("aten", npu);
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (name.getNamespace() != "aten" || !op || !op->hasSchema()) continue;
    if (npu == DispatchKey::NestedTensorPrivateUse1 && IsMove(name)) continue;
    if (op->hasKernelForDispatchKey(cpu) && HasFormula(*op)) {
      aten.impl(c10::toString(name).c_str(), Boxed<cpu>());
    }
  }
}

/// PyTorch has a formula over the operator's out form that makes the checks of the CPU kernel once
/// more, with their warnings, some of them about the shape of a result that the formula made.
void DefineStructured(torch::Library& aten) {
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (name.getNamespace() != "aten" || !op || !op->hasSchema()) continue;
    if (auto direct = DirectFor(name)) {
      aten.impl(c10::toString(name).c_str(), std::move(*direct));
    } else if (IsModular(name)) {
      aten.impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&Modular>());
    } else if (op->hasKernelForDispatchKey(DispatchKey::CPU) &&
               op->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional)) {
      aten.impl(c10::toString(name).c_str(), Boxed<DispatchKey::CPU>());
    }
  }
}

void Define() {
  Implement("_", DispatchKey::PrivateUse1).fallback(Boxed<DispatchKey::CPU>());
  DefineOther<DispatchKey::SparseCPU, DispatchKey::SparsePrivateUse1>();
  DefineOther<DispatchKey::SparseCsrCPU, DispatchKey::SparseCsrPrivateUse1>();
  DefineOther<DispatchKey::QuantizedCPU, DispatchKey::QuantizedPrivateUse1>();
  DefineOther<DispatchKey::NestedTensorCPU, DispatchKey::NestedTensorPrivateUse1>();

  // These have a formula for any device, but on CPU a kernel that rounds elsewhere or, for mode,
  // knows its devices by name.
  torch::Library& aten = Implement("aten", DispatchKey::PrivateUse1);
  for (const char* name :
       {"addr", "addr.out", "all.dims_out", "any.dims_out", "linalg__powsum", "mode.values",
        "native_group_norm", "native_layer_norm", "_stack", "_stack.out"}) {
    aten.impl(name, Boxed<DispatchKey::CPU>());
  }
  DefineStructured(aten);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
