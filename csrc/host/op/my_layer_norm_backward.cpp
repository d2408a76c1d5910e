// SPDX-License-Identifier: Apache-2.0
// The gradient of x in my_layer_norm (centered) and my_rms_norm.
#include <ATen/ops/empty.h>

#include "op/arithmetic.h"
#include "op/autograd.h"
#include "op/define.h"
#include "op/norm.h"
#include "op/operators.h"

namespace npu_host {
namespace {

using Optional = std::optional<at::Tensor>;

constexpr const char* kWhere = "npu::my_layer_norm_backward";

void CheckArguments(const at::Tensor& gradient, const at::Tensor& x, c10::SymIntArrayRef shape,
                    const Optional& weight) {
  CheckRows(kWhere, x, shape);
  CheckSameKind(kWhere, x, gradient, "gradient");
  TORCH_CHECK(gradient.sym_sizes() == x.sym_sizes(), kWhere, ": expected gradient of size ",
              x.sym_sizes(), " (the size of x), got ", gradient.sym_sizes());
  CheckRow(kWhere, x, shape, ValueOr(weight), "weight");
}

at::Tensor Compute(const at::Tensor& gradient, const at::Tensor& x, c10::IntArrayRef shape,
                   const Optional& weight, double eps, bool centered) {  // PrivateUse1 and CPU
  CheckArguments(gradient, x, c10::fromIntArrayRefSlow(shape), weight);
  const at::Tensor z = at::empty(x.sizes(), x.options());
  const RowOperand gradient_rows(gradient, shape.size()), x_rows(x, shape.size());
  const RowOperand z_rows(z, shape.size());
  const RowVector scale(ValueOr(weight));
  c10::SmallVector<at::Tensor, 4> inputs = {gradient_rows.tensor(), x_rows.tensor()};
  scale.AppendTo(inputs);
  TensorLauncher launcher(z, inputs);
  Check(op::MyNormBackward(gradient_rows, x_rows, scale.data(), {eps, centered}, z_rows, launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& gradient, const at::Tensor& x, c10::SymIntArrayRef shape,
                const Optional& weight, double /*eps*/, bool /*centered*/) {
  CheckArguments(gradient, x, shape, weight);
  return at::empty_symint(x.sym_sizes(), x.options());
}

/// The gradient of x in J(g) = scale * (g - mean(g) - x^ * mean(g * x^)), from that of the whole,
/// v: -scale * (x^ * mean(v * J(g)) + mean(g * x^) * J(v) + mean(v * x^) * J(g)).
at::Tensor GradientOfX(const at::Tensor& v, const at::Tensor& v_back, const at::Tensor& g,
                       const at::Tensor& x, const Norm& norm) {
  const auto per_row = SizesPerRow(x, norm.shape.size());
  const double part = 1 / RowLength(norm);
  const auto mean = [&](const at::Tensor& product) {
    return Multiple(SumTo(product, per_row), part);
  };
  const at::Tensor normal = NormForward(x, {}, norm), g_back = NormBackward(g, x, {}, norm);
  at::Tensor sum = MyMul(normal, mean(MyMul(v, g_back)));
  sum = Sum(sum, MyMul(mean(MyMul(g, normal)), v_back));
  sum = Sum(sum, MyMul(mean(MyMul(v, normal)), g_back));
  return MyMul(sum, Multiple(NormScale(x, norm).to(x.scalar_type()), -1));
}

TensorList GoBack(const BackwardCall& call, const Norm& norm) {
  const at::Tensor &v = call.gradient(), &gradient = call.saved[0], &x = call.saved[1],
                   &weight = call.saved[2];
  TensorList gradients(3);
  const at::Tensor v_back = NormBackward(v, x, {}, norm);
  const auto weighted = [&](const at::Tensor& tensor) {
    return weight.defined() ? MyMul(tensor, weight) : tensor;
  };
  if (call.wanted[0]) gradients[0] = weighted(v_back);
  if (call.wanted[1]) gradients[1] = GradientOfX(v, v_back, weighted(gradient), x, norm);
  if (call.wanted[2]) gradients[2] = SumTo(MyMul(gradient, v_back), norm.shape);
  return gradients;
}

at::Tensor Autograd(const at::Tensor& gradient, const at::Tensor& x, c10::SymIntArrayRef shape,
                    const Optional& weight, double eps, bool centered) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, gradient, x, shape, weight, eps, centered);
  const at::Tensor weight_value = ValueOr(weight);
  if (GradientWanted({gradient, x, weight_value})) {
    RecordGradient("MyNormBackwardBackward", {gradient, x, weight_value}, z,
                   {gradient, x, weight_value},
                   [norm = Norm{shape.vec(), eps, centered}](const BackwardCall& call) {
                     return GoBack(call, norm);
                   });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_layer_norm_backward(Tensor gradient, Tensor x, SymInt[] normalized_shape, Tensor? "
      "weight, "
      "float eps, bool centered) -> Tensor",
      Compute, Meta, Autograd, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor NormBackward(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
                        const Norm& norm) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  return op.call(gradient, x, norm.shape, weight.defined() ? Optional(weight) : Optional(),
                 norm.eps, norm.centered);
}

}  // namespace npu_host
