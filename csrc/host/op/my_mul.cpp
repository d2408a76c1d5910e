// SPDX-License-Identifier: Apache-2.0
#include "op/my_mul.h"

#include <ATen/core/Scalar.h>

#include "op/autograd.h"
#include "op/broadcast.h"
#include "op/define.h"
#include "op/elementwise.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_mul";

at::Tensor Compute(const at::Tensor& x, const at::Tensor& y) {  // PrivateUse1 and CPU
  const at::Tensor z = BroadcastResult(kWhere, {x, y});
  TensorLauncher launcher(z, {x, y});
  Check(op::MyMul(Operand(x, z.sizes()), Operand(y, z.sizes()), Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, const at::Tensor& y) { return BroadcastMeta(kWhere, {x, y}); }

at::Tensor Autograd(const at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(Compute)>(kWhere, "Tensor");
  const at::Tensor z = CallBelowAutograd(op, x, y);
  if (GradientWanted({x, y})) {
    RecordGradient("MyMulBackward", {x, y}, z, {x, y}, [](const BackwardCall& call) {
      const at::Tensor &x = call.saved[0], &y = call.saved[1];
      TensorList gradients(2);
      if (call.wanted[0]) gradients[0] = SumTo(MyMul(call.gradient(), y), x.sym_sizes());
      if (call.wanted[1]) gradients[1] = SumTo(MyMul(call.gradient(), x), y.sym_sizes());
      return gradients;
    });
  }
  return z;
}

// --- by a number ---------------------------------------------------------------------------------

/// scalar as the kernels take it. Raises unless the product has the dtype of x.
op::Scalar NumberFor(const at::Tensor& x, const at::Scalar& scalar) {
  CheckOperand(kWhere, "x", x);
  TORCH_CHECK_TYPE(!scalar.isComplex(), kWhere, ": expected a real alpha, got a complex one");
  if (scalar.isFloatingPoint()) {
    TORCH_CHECK_TYPE(x.is_floating_point(), kWhere, ": expected an integer alpha for x of dtype ",
                     x.scalar_type(), ", got ", scalar.toDouble(),
                     "; x.float() has products with it");
    return op::Scalar(scalar.toDouble());
  }
  return op::Scalar(scalar.toLong());
}

at::Tensor ComputeByNumber(const at::Tensor& x, const at::Scalar& scalar) {
  const op::Scalar number = NumberFor(x, scalar);
  const at::Tensor z = BroadcastResult(kWhere, {x});
  TensorLauncher launcher(z, {x});
  Check(op::MyMul(Operand(x, x.sizes()), number, Operand(z, x.sizes()), launcher));
  return z;
}

at::Tensor MetaByNumber(const at::Tensor& x, const at::Scalar& scalar) {
  if (!scalar.isSymbolic()) NumberFor(x, scalar);
  return BroadcastMeta(kWhere, {x});
}

at::Tensor AutogradByNumber(const at::Tensor& x, const at::Scalar& scalar) {
  static const auto op = Operator<decltype(ComputeByNumber)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, scalar);
  if (GradientWanted({x})) {
    RecordGradient("MyMulBackward", {x}, z, {}, [scalar](const BackwardCall& call) {
      return TensorList{op.call(call.gradient(), scalar)};
    });
  }
  return z;
}

void Define() {
  // torch tries overloads in the order of their definition. That a tensor is no number costs it
  // milliseconds, since the message for which nobody asks holds the tensor's values.
  DefineOperator("my_mul.Tensor(Tensor x, Tensor y) -> Tensor", Compute, Meta, Autograd,
                 Autocast::kWidest);
  DefineOperator("my_mul(Tensor x, Scalar alpha) -> Tensor", ComputeByNumber, MetaByNumber,
                 AutogradByNumber, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor MyMul(const at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(Compute)>(kWhere, "Tensor");
  return op.call(x, y);
}

}  // namespace npu_host
