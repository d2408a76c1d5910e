// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include "op/autograd.h"
#include "op/define.h"
#include "op/norm.h"
#include "op/operators.h"

namespace npu_host {
namespace {

using Optional = std::optional<at::Tensor>;

constexpr const char* kWhere = "npu::my_layer_norm";

void CheckArguments(const at::Tensor& x, c10::SymIntArrayRef shape, const Optional& weight,
                    const Optional& bias) {
  CheckRows(kWhere, x, shape);
  CheckRow(kWhere, x, shape, ValueOr(weight), "weight");
  CheckRow(kWhere, x, shape, ValueOr(bias), "bias");
}

at::Tensor Compute(const at::Tensor& x, c10::IntArrayRef shape, const Optional& weight,
                   const Optional& bias, double eps) {  // PrivateUse1 and CPU
  CheckArguments(x, c10::fromIntArrayRefSlow(shape), weight, bias);
  const at::Tensor z = at::empty(x.sizes(), x.options());
  const RowOperand x_rows(x, shape.size()), z_rows(z, shape.size());
  const RowVector scale(ValueOr(weight)), shift(ValueOr(bias));
  c10::SmallVector<at::Tensor, 4> inputs = {x_rows.tensor()};
  scale.AppendTo(inputs);
  shift.AppendTo(inputs);
  TensorLauncher launcher(z, inputs);
  Check(op::MyLayerNorm(x_rows, scale.data(), shift.data(), eps, z_rows, launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, c10::SymIntArrayRef shape, const Optional& weight,
                const Optional& bias, double /*eps*/) {
  CheckArguments(x, shape, weight, bias);
  return at::empty_symint(x.sym_sizes(), x.options());
}

TensorList GoBack(const BackwardCall& call, const Norm& norm) {
  const at::Tensor &x = call.saved[0], &weight = call.saved[1];
  TensorList gradients(3);
  if (call.wanted[0]) gradients[0] = NormBackward(call.gradient(), x, weight, norm);
  if (call.wanted[1]) gradients[1] = NormWeightBackward(call.gradient(), x, norm);
  if (call.wanted[2]) gradients[2] = SumTo(call.gradient(), norm.shape);
  return gradients;
}

at::Tensor Autograd(const at::Tensor& x, c10::SymIntArrayRef shape, const Optional& weight,
                    const Optional& bias, double eps) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, shape, weight, bias, eps);
  const at::Tensor weight_value = ValueOr(weight), bias_value = ValueOr(bias);
  if (GradientWanted({x, weight_value, bias_value})) {
    RecordGradient("MyLayerNormBackward", {x, weight_value, bias_value}, z, {x, weight_value},
                   [norm = Norm{shape.vec(), eps, true}](const BackwardCall& call) {
                     return GoBack(call, norm);
                   });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_layer_norm(Tensor x, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
      "float eps=1e-05) -> Tensor",
      Compute, Meta, Autograd, Autocast::kFloat);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const Norm& norm) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  return op.call(x, norm.shape, weight.defined() ? Optional(weight) : Optional(), Optional(),
                 norm.eps);
}

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, const Norm& norm) {
  using Signature =
      at::Tensor(const at::Tensor&, c10::SymIntArrayRef, const Optional&, std::optional<double>);
  static const auto op = Operator<Signature>("npu::my_rms_norm");
  return op.call(x, norm.shape, weight.defined() ? Optional(weight) : Optional(), norm.eps);
}

}  // namespace

at::Tensor NormForward(const at::Tensor& x, const at::Tensor& weight, const Norm& norm) {
  return norm.centered ? LayerNorm(x, weight, norm) : RmsNorm(x, weight, norm);
}

}  // namespace npu_host
