// SPDX-License-Identifier: Apache-2.0
// The gradient of the weight in my_layer_norm (centered) and my_rms_norm.
#include <ATen/ops/empty.h>

#include "op/autograd.h"
#include "op/define.h"
#include "op/norm.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_layer_norm_backward_weight";

void CheckArguments(const at::Tensor& gradient, const at::Tensor& x, c10::SymIntArrayRef shape) {
  CheckRows(kWhere, x, shape);
  CheckSameKind(kWhere, x, gradient, "gradient");
  TORCH_CHECK(gradient.sym_sizes() == x.sym_sizes(), kWhere, ": expected gradient of size ",
              x.sym_sizes(), " (the size of x), got ", gradient.sym_sizes());
}

at::Tensor Compute(const at::Tensor& gradient, const at::Tensor& x, c10::IntArrayRef shape,
                   double eps, bool centered) {  // PrivateUse1 and CPU
  CheckArguments(gradient, x, c10::fromIntArrayRefSlow(shape));
  const at::Tensor z = at::empty(shape, x.options());
  const RowOperand gradient_rows(gradient, shape.size()), x_rows(x, shape.size());
  const op::NormRule rule = {eps, centered};
  const RowStatistics statistics = LaunchStatistics(x_rows, rule);
  TensorLauncher launcher(
      z, {gradient_rows.tensor(), x_rows.tensor(), statistics.mean, statistics.scale});
  Check(op::MyNormWeightBackward(gradient_rows, x_rows, statistics.data(), rule,
                                 z.mutable_data_ptr(), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& gradient, const at::Tensor& x, c10::SymIntArrayRef shape,
                double /*eps*/, bool /*centered*/) {
  CheckArguments(gradient, x, shape);
  return at::empty_symint(shape, x.options());
}

at::Tensor Autograd(const at::Tensor& gradient, const at::Tensor& x, c10::SymIntArrayRef shape,
                    double eps, bool centered) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, gradient, x, shape, eps, centered);
  if (GradientWanted({gradient, x})) {
    const Norm norm = {shape.vec(), eps, centered};
    RecordGradient("MyNormWeightBackwardBackward", {gradient, x}, z, {gradient, x},
                   [norm](const BackwardCall& call) {
                     const at::Tensor &gradient = call.saved[0], &x = call.saved[1];
                     TensorList gradients(2);
                     if (call.wanted[0]) gradients[0] = NormForward(x, call.gradient(), norm);
                     if (call.wanted[1])
                       gradients[1] = NormBackward(gradient, x, call.gradient(), norm);
                     return gradients;
                   });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_layer_norm_backward_weight(Tensor gradient, Tensor x, SymInt[] normalized_shape, float "
      "eps, "
      "bool centered) -> Tensor",
      Compute, Meta, Autograd, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor NormWeightBackward(const at::Tensor& gradient, const at::Tensor& x, const Norm& norm) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  return op.call(gradient, x, norm.shape, norm.eps, norm.centered);
}

}  // namespace npu_host
