// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include <limits>

#include "op/autograd.h"
#include "op/define.h"
#include "op/norm.h"
#include "op/operators.h"

namespace npu_host {
namespace {

using Optional = std::optional<at::Tensor>;

constexpr const char* kWhere = "npu::my_rms_norm";

/// eps, or that of the dtype in which a norm of x is computed, as in torch.
double EpsOf(const at::Tensor& x, std::optional<double> eps) {
  return eps.value_or(x.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                     : std::numeric_limits<float>::epsilon());
}

at::Tensor Compute(const at::Tensor& x, c10::IntArrayRef shape, const Optional& weight,
                   std::optional<double> eps) {  // PrivateUse1 and CPU
  const auto symbolic_shape = c10::fromIntArrayRefSlow(shape);
  CheckRows(kWhere, x, symbolic_shape);
  CheckRow(kWhere, x, symbolic_shape, ValueOr(weight), "weight");
  const at::Tensor z = at::empty(x.sizes(), x.options());
  const RowOperand x_rows(x, shape.size()), z_rows(z, shape.size());
  const RowVector scale(ValueOr(weight));
  c10::SmallVector<at::Tensor, 4> inputs = {x_rows.tensor()};
  scale.AppendTo(inputs);
  TensorLauncher launcher(z, inputs);
  Check(op::MyRmsNorm(x_rows, scale.data(), EpsOf(x, eps), z_rows, launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, c10::SymIntArrayRef shape, const Optional& weight,
                std::optional<double> /*eps*/) {
  CheckRows(kWhere, x, shape);
  CheckRow(kWhere, x, shape, ValueOr(weight), "weight");
  return at::empty_symint(x.sym_sizes(), x.options());
}

at::Tensor Autograd(const at::Tensor& x, c10::SymIntArrayRef shape, const Optional& weight,
                    std::optional<double> eps) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, shape, weight, eps);
  const at::Tensor weight_value = ValueOr(weight);
  if (GradientWanted({x, weight_value})) {
    const Norm norm = {shape.vec(), EpsOf(x, eps), false};
    RecordGradient("MyRmsNormBackward", {x, weight_value}, z, {x, weight_value},
                   [norm](const BackwardCall& call) {
                     const at::Tensor &x = call.saved[0], &weight = call.saved[1];
                     TensorList gradients(2);
                     if (call.wanted[0])
                       gradients[0] = NormBackward(call.gradient(), x, weight, norm);
                     if (call.wanted[1])
                       gradients[1] = NormWeightBackward(call.gradient(), x, norm);
                     return gradients;
                   });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_rms_norm(Tensor x, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> "
      "Tensor",
      Compute, Meta, Autograd, Autocast::kFloat);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace
}  // namespace npu_host
