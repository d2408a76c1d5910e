// SPDX-License-Identifier: Apache-2.0
// The gradients of a convolution. They are bilinear, as it is, and each is the gradient of the
// others: with weights and images w, x and a gradient g, the three numbers <conv(x, w), g>,
// <x, backward_input(g, w)> and <w, backward_weight(g, x)> are one.
#include <ATen/ops/empty.h>

#include "op/autograd.h"
#include "op/convolution.h"
#include "op/define.h"
#include "op/factors.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

using BackwardSignature = at::Tensor(const at::Tensor&, const at::Tensor&, c10::SymIntArrayRef,
                                     c10::IntArrayRef, c10::IntArrayRef);

/// Raises unless gradient is one of an output with so many channels and this plane.
void CheckGradient(const char* where, const at::Tensor& gradient, const Factor& other,
                   const char* layout) {
  CheckFactor(where, {"gradient", gradient}, 4, "(n, co, ho, wo)");
  CheckFactor(where, other, 4, layout);
  CheckSameKindAs(where, {"gradient", gradient}, other);
}

void CheckPlane(const char* where, const at::Tensor& gradient, const SymPair& expected) {
  TORCH_CHECK(gradient.sym_size(2) == expected[0] && gradient.sym_size(3) == expected[1], where,
              ": expected gradient of height and width ", expected[0], " and ", expected[1],
              " (those of the output), got ", gradient.sym_size(2), " and ", gradient.sym_size(3));
}

// --- input ---------------------------------------------------------------------------------------

constexpr const char* kInput = "npu::my_conv_backward_input";

at::Tensor InputLike(const at::Tensor& gradient, const at::Tensor& weight, const SymPair& size,
                     const ConvWindow& window) {
  CheckGradient(kInput, gradient, {"weight", weight}, "(co, c, kh, kw)");
  TORCH_CHECK(gradient.sym_size(1) == weight.sym_size(0), kInput, ": expected gradient of ",
              weight.sym_size(0), " channels (the output channels of weight), got ",
              gradient.sym_size(1));
  CheckPlane(kInput, gradient, window.OutputSize(size, PlaneOf(weight)));
  return at::empty_symint({gradient.sym_size(0), weight.sym_size(1), size[0], size[1]},
                          gradient.options());
}

at::Tensor ComputeInput(const at::Tensor& gradient, const at::Tensor& weight,
                        c10::SymIntArrayRef size, c10::IntArrayRef stride,
                        c10::IntArrayRef padding) {  // PrivateUse1 and CPU
  const ConvWindow window(kInput, stride, padding);
  const at::Tensor input = InputLike(gradient, weight, PairOf(kInput, size), window);
  const op::Window& numbers = window.numbers();
  const Operand g(gradient, gradient.sizes()), w(weight, weight.sizes()), x(input, input.sizes());
  const at::Tensor workspace =
      ConvWorkspace(op::MyConvBackwardInputWorkspace(g, w, x, numbers), gradient);
  TensorLauncher launcher(input, {gradient, weight, workspace});
  Check(op::MyConvBackwardInput(g, w, numbers, x, workspace.mutable_data_ptr(), launcher));
  return input;
}

at::Tensor MetaInput(const at::Tensor& gradient, const at::Tensor& weight, c10::SymIntArrayRef size,
                     c10::IntArrayRef stride, c10::IntArrayRef padding) {
  return InputLike(gradient, weight, PairOf(kInput, size), ConvWindow(kInput, stride, padding));
}

at::Tensor AutogradInput(const at::Tensor& gradient, const at::Tensor& weight,
                         c10::SymIntArrayRef size, c10::IntArrayRef stride,
                         c10::IntArrayRef padding) {
  static const auto op = Operator<BackwardSignature>(kInput);
  const at::Tensor input = CallBelowAutograd(op, gradient, weight, size, stride, padding);
  if (GradientWanted({gradient, weight})) {
    RecordGradient("MyConvBackwardInputBackward", {gradient, weight}, input, {gradient, weight},
                   [stride = stride.vec(), padding = padding.vec()](const BackwardCall& call) {
                     const at::Tensor &gradient = call.saved[0], &weight = call.saved[1];
                     TensorList gradients(2);
                     if (call.wanted[0]) {
                       gradients[0] =
                           MyConv(call.gradient(), weight, std::nullopt, stride, padding);
                     }
                     if (call.wanted[1]) {
                       gradients[1] = MyConvBackwardWeight(gradient, call.gradient(),
                                                           PlaneOf(weight).values, stride, padding);
                     }
                     return gradients;
                   });
  }
  return input;
}

// --- weight --------------------------------------------------------------------------------------

constexpr const char* kWeight = "npu::my_conv_backward_weight";

at::Tensor WeightLike(const at::Tensor& gradient, const at::Tensor& input, const SymPair& size,
                      const ConvWindow& window) {
  CheckGradient(kWeight, gradient, {"input", input}, "(n, c, h, w)");
  TORCH_CHECK(gradient.sym_size(0) == input.sym_size(0), kWeight, ": expected gradient of ",
              input.sym_size(0), " images (those of input), got ", gradient.sym_size(0));
  CheckPlane(kWeight, gradient, window.OutputSize(PlaneOf(input), size));
  return at::empty_symint({gradient.sym_size(1), input.sym_size(1), size[0], size[1]},
                          gradient.options());
}

at::Tensor ComputeWeight(const at::Tensor& gradient, const at::Tensor& input,
                         c10::SymIntArrayRef size, c10::IntArrayRef stride,
                         c10::IntArrayRef padding) {  // PrivateUse1 and CPU
  const ConvWindow window(kWeight, stride, padding);
  const at::Tensor weight = WeightLike(gradient, input, PairOf(kWeight, size), window);
  const op::Window& numbers = window.numbers();
  const Operand g(gradient, gradient.sizes()), x(input, input.sizes()), w(weight, weight.sizes());
  const at::Tensor workspace =
      ConvWorkspace(op::MyConvBackwardWeightWorkspace(g, x, w, numbers), gradient);
  TensorLauncher launcher(weight, {gradient, input, workspace});
  Check(op::MyConvBackwardWeight(g, x, numbers, w, workspace.mutable_data_ptr(), launcher));
  return weight;
}

at::Tensor MetaWeight(const at::Tensor& gradient, const at::Tensor& input, c10::SymIntArrayRef size,
                      c10::IntArrayRef stride, c10::IntArrayRef padding) {
  return WeightLike(gradient, input, PairOf(kWeight, size), ConvWindow(kWeight, stride, padding));
}

at::Tensor AutogradWeight(const at::Tensor& gradient, const at::Tensor& input,
                          c10::SymIntArrayRef size, c10::IntArrayRef stride,
                          c10::IntArrayRef padding) {
  static const auto op = Operator<BackwardSignature>(kWeight);
  const at::Tensor weight = CallBelowAutograd(op, gradient, input, size, stride, padding);
  if (GradientWanted({gradient, input})) {
    RecordGradient("MyConvBackwardWeightBackward", {gradient, input}, weight, {gradient, input},
                   [stride = stride.vec(), padding = padding.vec()](const BackwardCall& call) {
                     const at::Tensor &gradient = call.saved[0], &input = call.saved[1];
                     TensorList gradients(2);
                     if (call.wanted[0]) {
                       gradients[0] = MyConv(input, call.gradient(), std::nullopt, stride, padding);
                     }
                     if (call.wanted[1]) {
                       gradients[1] = MyConvBackwardInput(gradient, call.gradient(),
                                                          PlaneOf(input).values, stride, padding);
                     }
                     return gradients;
                   });
  }
  return weight;
}

void Define() {
  DefineOperator(
      "my_conv_backward_input(Tensor gradient, Tensor weight, SymInt[2] size, "
      "int[2] stride=1, int[2] padding=0) -> Tensor",
      ComputeInput, MetaInput, AutogradInput, Autocast::kLower);
  DefineOperator(
      "my_conv_backward_weight(Tensor gradient, Tensor input, SymInt[2] size, "
      "int[2] stride=1, int[2] padding=0) -> Tensor",
      ComputeWeight, MetaWeight, AutogradWeight, Autocast::kLower);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kInput, kWeight},
                                                              &Define);

}  // namespace

at::Tensor MyConvBackwardInput(const at::Tensor& gradient, const at::Tensor& weight,
                               c10::SymIntArrayRef size, c10::IntArrayRef stride,
                               c10::IntArrayRef padding) {
  static const auto op = Operator<BackwardSignature>(kInput);
  return op.call(gradient, weight, size, stride, padding);
}

at::Tensor MyConvBackwardWeight(const at::Tensor& gradient, const at::Tensor& input,
                                c10::SymIntArrayRef size, c10::IntArrayRef stride,
                                c10::IntArrayRef padding) {
  static const auto op = Operator<BackwardSignature>(kWeight);
  return op.call(gradient, input, size, stride, padding);
}

}  // namespace npu_host
