// SPDX-License-Identifier: Apache-2.0
#include "op/my_relu.h"

#include "op/autograd.h"
#include "op/broadcast.h"
#include "op/define.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_relu";

at::Tensor Compute(const at::Tensor& x) {  // PrivateUse1 and CPU
  const at::Tensor z = BroadcastResult(kWhere, {x});
  TensorLauncher launcher(z, {x});
  Check(op::MyRelu(Operand(x, x.sizes()), Operand(z, x.sizes()), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x) { return BroadcastMeta(kWhere, {x}); }

TensorList GoBack(const BackwardCall& call) {
  return {ReluBackward(call.gradient(), call.saved[0])};
}

at::Tensor Autograd(const at::Tensor& x) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x);
  if (GradientWanted({x})) RecordGradient("MyReluBackward", {x}, z, {z}, GoBack);
  return z;
}

// --- in place ------------------------------------------------------------------------------------

constexpr const char* kInPlace = "npu::my_relu_";

at::Tensor& ComputeInPlace(at::Tensor& x) {  // PrivateUse1 and CPU
  CheckInPlace(kInPlace, {x});
  TensorLauncher launcher(x, {x});
  const Operand operand(x, x.sizes());
  Check(op::MyRelu(operand, operand, launcher));
  return x;
}

at::Tensor& MetaInPlace(at::Tensor& x) {
  CheckInPlace(kInPlace, {x});
  return x;
}

at::Tensor& AutogradInPlace(at::Tensor& x) {
  static const auto op = Operator<decltype(ComputeInPlace)>(kInPlace);
  RecordInPlace("MyReluBackward", x, {x}, {x}, [&] { op.call(x); }, GoBack);
  return x;
}

// --- the way back --------------------------------------------------------------------------------

constexpr const char* kBackward = "npu::my_relu_backward";

at::Tensor ComputeBackward(const at::Tensor& gradient, const at::Tensor& result) {
  const at::Tensor z = BroadcastResult(kBackward, {gradient, result});
  TORCH_CHECK_TYPE(z.is_floating_point(), kBackward,
                   ": expected gradient of a floating point dtype, got ", z.scalar_type());
  TensorLauncher launcher(z, {gradient, result});
  Check(op::MyReluBackward(Operand(gradient, z.sizes()), Operand(result, z.sizes()),
                           Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor MetaBackward(const at::Tensor& gradient, const at::Tensor& result) {
  return BroadcastMeta(kBackward, {gradient, result});
}

/// It is linear in gradient; result only chooses.
at::Tensor AutogradBackward(const at::Tensor& gradient, const at::Tensor& result) {
  static const auto op = Operator<decltype(ComputeBackward)>(kBackward);
  const at::Tensor z = CallBelowAutograd(op, gradient, result);
  if (GradientWanted({gradient})) {
    RecordGradient("MyReluBackwardBackward", {gradient}, z, {result}, GoBack);
  }
  return z;
}

void Define() {
  DefineOperator("my_relu(Tensor x) -> Tensor", Compute, Meta, Autograd, Autocast::kNone);
  DefineOperator("my_relu_(Tensor(a!) self) -> Tensor(a!)", ComputeInPlace, MetaInPlace,
                 AutogradInPlace, Autocast::kNone);
  DefineInPlace("my_relu_");
  DefineOperator("my_relu_backward(Tensor gradient, Tensor result) -> Tensor", ComputeBackward,
                 MetaBackward, AutogradBackward, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension",
                                                              {kWhere, kInPlace, kBackward},
                                                              &Define);

}  // namespace

at::Tensor ReluBackward(const at::Tensor& gradient, const at::Tensor& result) {
  static const auto op = Operator<decltype(ComputeBackward)>(kBackward);
  return op.call(gradient, result);
}

}  // namespace npu_host
