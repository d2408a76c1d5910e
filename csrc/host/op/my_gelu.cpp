// SPDX-License-Identifier: Apache-2.0
#include "op/my_gelu.h"

#include <c10/util/string_view.h>

#include <string>

#include "op/autograd.h"
#include "op/broadcast.h"
#include "op/define.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_gelu";
constexpr const char* kBackward = "npu::my_gelu_backward";
constexpr const char* kTwice = "npu::my_gelu_backward_twice";

op::Gelu FormOf(const char* where, const at::Tensor& x, c10::string_view approximate) {
  CheckOperand(where, "x", x);
  TORCH_CHECK_TYPE(x.is_floating_point(), where, ": expected x of a floating point dtype, got ",
                   x.scalar_type());
  TORCH_CHECK(approximate == "none" || approximate == "tanh", where,
              ": expected approximate of 'none' or 'tanh', got '", approximate, "'");
  return approximate == "tanh" ? op::Gelu::kTanh : op::Gelu::kExact;
}

at::Tensor Compute(const at::Tensor& x, c10::string_view approximate) {
  const op::Gelu form = FormOf(kWhere, x, approximate);
  const at::Tensor z = BroadcastResult(kWhere, {x});
  TensorLauncher launcher(z, {x});
  Check(op::MyGelu(form, Operand(x, x.sizes()), Operand(z, x.sizes()), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, c10::string_view approximate) {
  FormOf(kWhere, x, approximate);
  return BroadcastMeta(kWhere, {x});
}

at::Tensor ComputeBackward(const at::Tensor& gradient, const at::Tensor& x,
                           c10::string_view approximate) {
  const op::Gelu form = FormOf(kBackward, x, approximate);
  const at::Tensor z = BroadcastResult(kBackward, {gradient, x});
  TensorLauncher launcher(z, {gradient, x});
  Check(op::MyGeluBackward(form, Operand(gradient, z.sizes()), Operand(x, z.sizes()),
                           Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor MetaBackward(const at::Tensor& gradient, const at::Tensor& x,
                        c10::string_view approximate) {
  FormOf(kBackward, x, approximate);
  return BroadcastMeta(kBackward, {gradient, x});
}

at::Tensor ComputeTwice(const at::Tensor& gradient, const at::Tensor& tangent, const at::Tensor& x,
                        c10::string_view approximate) {
  const op::Gelu form = FormOf(kTwice, x, approximate);
  const at::Tensor z = BroadcastResult(kTwice, {gradient, tangent, x});
  TensorLauncher launcher(z, {gradient, tangent, x});
  Check(op::MyGeluBackwardTwice(form, Operand(gradient, z.sizes()), Operand(tangent, z.sizes()),
                                Operand(x, z.sizes()), Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor MetaTwice(const at::Tensor& gradient, const at::Tensor& tangent, const at::Tensor& x,
                     c10::string_view approximate) {
  FormOf(kTwice, x, approximate);
  return BroadcastMeta(kTwice, {gradient, tangent, x});
}

// --- gradients -----------------------------------------------------------------------------------

at::Tensor AutogradTwice(const at::Tensor& gradient, const at::Tensor& tangent, const at::Tensor& x,
                         c10::string_view approximate) {
  static const auto op = Operator<decltype(ComputeTwice)>(kTwice);
  const at::Tensor z = CallBelowAutograd(op, gradient, tangent, x, approximate);
  if (GradientWanted({gradient, tangent, x})) {
    RecordGradient("MyGeluBackwardTwiceBackward", {gradient, tangent, x}, z, {},
                   [](const BackwardCall&) -> TensorList {
                     TORCH_CHECK_NOT_IMPLEMENTED(
                         false, "npu::my_gelu: expected at most two derivatives, got a third");
                   });
  }
  return z;
}

at::Tensor AutogradBackward(const at::Tensor& gradient, const at::Tensor& x,
                            c10::string_view approximate) {
  static const auto op = Operator<decltype(ComputeBackward)>(kBackward);
  const at::Tensor z = CallBelowAutograd(op, gradient, x, approximate);
  if (GradientWanted({gradient, x})) {
    RecordGradient("MyGeluBackwardBackward", {gradient, x}, z, {gradient, x},
                   [form = std::string(approximate)](const BackwardCall& call) {
                     static const auto twice = Operator<decltype(ComputeTwice)>(kTwice);
                     const at::Tensor &gradient = call.saved[0], &x = call.saved[1];
                     TensorList gradients(2);
                     if (call.wanted[0]) gradients[0] = op.call(call.gradient(), x, form);
                     if (call.wanted[1])
                       gradients[1] = twice.call(gradient, call.gradient(), x, form);
                     return gradients;
                   });
  }
  return z;
}

at::Tensor Autograd(const at::Tensor& x, c10::string_view approximate) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, approximate);
  if (GradientWanted({x})) {
    RecordGradient("MyGeluBackward", {x}, z, {x},
                   [form = std::string(approximate)](const BackwardCall& call) {
                     static const auto backward = Operator<decltype(ComputeBackward)>(kBackward);
                     return TensorList{backward.call(call.gradient(), call.saved[0], form)};
                   });
  }
  return z;
}

void Define() {
  DefineOperator("my_gelu(Tensor x, *, str approximate='none') -> Tensor", Compute, Meta, Autograd,
                 Autocast::kNone);
  DefineOperator("my_gelu_backward(Tensor gradient, Tensor x, *, str approximate='none') -> Tensor",
                 ComputeBackward, MetaBackward, AutogradBackward, Autocast::kNone);
  DefineOperator(
      "my_gelu_backward_twice(Tensor gradient, Tensor tangent, Tensor x, *, "
      "str approximate='none') -> Tensor",
      ComputeTwice, MetaTwice, AutogradTwice, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension",
                                                              {kWhere, kBackward, kTwice}, &Define);

}  // namespace
}  // namespace npu_host
