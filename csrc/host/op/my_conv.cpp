// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "op/autograd.h"
#include "op/convolution.h"
#include "op/define.h"
#include "op/factors.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_conv";

void CheckBias(const at::Tensor& weight, const at::Tensor& bias) {
  CheckFactor(kWhere, {"bias", bias}, 1, "(co)");
  CheckSameKindAs(kWhere, {"weight", weight}, {"bias", bias});
  TORCH_CHECK(bias.sym_size(0) == weight.sym_size(0), kWhere, ": expected bias of ",
              weight.sym_size(0), " elements (the output channels of weight), got ",
              bias.sym_size(0));
}

/// A new tensor for the output. Raises where arguments do not fit.
at::Tensor Output(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias, const ConvWindow& window) {
  CheckFactor(kWhere, {"input", input}, 4, "(n, c, h, w)");
  CheckFactor(kWhere, {"weight", weight}, 4, "(co, c, kh, kw)");
  CheckSameKindAs(kWhere, {"input", input}, {"weight", weight});
  TORCH_CHECK(weight.sym_size(1) == input.sym_size(1), kWhere, ": expected weight of ",
              input.sym_size(1), " input channels (those of input), got ", weight.sym_size(1));
  if (bias && bias->defined()) CheckBias(weight, *bias);
  const SymPair size = window.OutputSize(PlaneOf(input), PlaneOf(weight));
  return at::empty_symint({input.sym_size(0), weight.sym_size(0), size[0], size[1]},
                          input.options());
}

at::Tensor Compute(const at::Tensor& input, const at::Tensor& weight,  // PrivateUse1 and CPU
                   const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                   c10::IntArrayRef padding) {
  const ConvWindow window(kWhere, stride, padding);
  const at::Tensor output = Output(input, weight, bias, window);
  const op::Window& numbers = window.numbers();
  const Operand x(input, input.sizes()), w(weight, weight.sizes()), y(output, output.sizes());
  const at::Tensor workspace = ConvWorkspace(op::MyConvWorkspace(x, w, y, numbers), input);
  const bool has_bias = bias && bias->defined();
  const Operand b(has_bias ? *bias : weight, has_bias ? bias->sizes() : weight.sizes());
  const op::Tensor bias_operand = b;
  TensorLauncher launcher(output, {input, weight, has_bias ? *bias : weight, workspace});
  Check(op::MyConv(x, w, has_bias ? &bias_operand : nullptr, numbers, y,
                   workspace.mutable_data_ptr(), launcher));
  return output;
}

at::Tensor Meta(const at::Tensor& input, const at::Tensor& weight,
                const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                c10::IntArrayRef padding) {
  return Output(input, weight, bias, ConvWindow(kWhere, stride, padding));
}

at::Tensor Autograd(const at::Tensor& input, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                    c10::IntArrayRef padding) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor output = CallBelowAutograd(op, input, weight, bias, stride, padding);
  const at::Tensor offset = bias.value_or(at::Tensor());
  if (GradientWanted({input, weight, offset})) {
    RecordGradient("MyConvBackward", {input, weight, offset}, output, {input, weight},
                   [stride = stride.vec(), padding = padding.vec()](const BackwardCall& call) {
                     const at::Tensor &input = call.saved[0], &weight = call.saved[1];
                     const at::Tensor& gradient = call.gradient();
                     TensorList gradients(3);
                     if (call.wanted[0]) {
                       gradients[0] = MyConvBackwardInput(gradient, weight, PlaneOf(input).values,
                                                          stride, padding);
                     }
                     if (call.wanted[1]) {
                       gradients[1] = MyConvBackwardWeight(gradient, input, PlaneOf(weight).values,
                                                           stride, padding);
                     }
                     if (call.wanted[2]) {
                       const c10::SymInt channels = gradient.sym_size(1);
                       gradients[2] = SumTo(gradient, {1, channels, 1, 1}).view_symint({channels});
                     }
                     return gradients;
                   });
  }
  return output;
}

void Define() {
  DefineOperator(
      "my_conv(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, "
      "int[2] padding=0) -> Tensor",
      Compute, Meta, Autograd, Autocast::kLower);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor MyConv(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias, c10::IntArrayRef stride,
                  c10::IntArrayRef padding) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  return op.call(input, weight, bias, stride, padding);
}

}  // namespace npu_host
