// SPDX-License-Identifier: Apache-2.0
// The ways back from cross entropy: (softmax(x) - onehot(target)) * scale, and on from there.
#include <ATen/ops/empty.h>
#include <ATen/ops/ones_like.h>

#include <string>

#include "op/arithmetic.h"
#include "op/autograd.h"
#include "op/cross_entropy.h"
#include "op/define.h"
#include "op/norm.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_cross_entropy_backward";
constexpr const char* kScale = "npu::my_cross_entropy_backward_scale";

/// A label for each row of what is reduced, or one gradient for all.
void CheckGradient(const char* where, const at::Tensor& gradient, const at::Tensor& target,
                   op::LossReduction reduction) {
  CheckOperand(where, "gradient", gradient);
  TORCH_CHECK_TYPE(gradient.is_floating_point(), where,
                   ": expected gradient of a floating point dtype, got ", gradient.scalar_type());
  CheckTarget(where, "gradient", gradient, target);
  TORCH_CHECK(target.dim() == 1, where, ": expected target of one dimension, got ",
              target.sym_sizes());
  const bool is_reduced = reduction != op::LossReduction::kNone;
  TORCH_CHECK(is_reduced ? gradient.dim() == 0 : gradient.sym_sizes() == target.sym_sizes(), where,
              ": expected gradient of the size of the loss, got ", gradient.sym_sizes());
}

// --- scales of rows ------------------------------------------------------------------------------

at::Tensor ComputeScale(const at::Tensor& gradient, const at::Tensor& target, int64_t ignored,
                        std::string_view reduction_name) {
  const op::LossReduction reduction = ReductionOf(kScale, reduction_name);
  CheckGradient(kScale, gradient, target, reduction);
  return CrossEntropyScales(gradient, target, ignored, reduction);
}

at::Tensor MetaScale(const at::Tensor& gradient, const at::Tensor& target, int64_t /*ignored*/,
                     std::string_view reduction) {
  CheckGradient(kScale, gradient, target, ReductionOf(kScale, reduction));
  const bool is_double = gradient.scalar_type() == at::kDouble;
  return at::empty_symint({target.sym_size(0), 1},
                          gradient.options().dtype(is_double ? at::kDouble : at::kFloat));
}

at::Tensor Scale(const at::Tensor& gradient, const at::Tensor& target, int64_t ignored,
                 std::string_view reduction) {
  static const auto op = Operator<decltype(ComputeScale)>(kScale);
  return op.call(gradient, target, ignored, reduction);
}

/// products (rows, 1 or classes) summed to the gradient of the loss.
at::Tensor SumToLoss(const at::Tensor& products, std::string_view reduction) {
  if (reduction != "none") return SumTo(products, {});
  return SumTo(products, {products.sym_size(0), 1}).view_symint({products.sym_size(0)});
}

/// What is below is differentiated for float32 and float64 alone: factors of rows have no other
/// dtype.
void CheckTwice(const at::Tensor& x) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble, kWhere,
      ": expected self of dtype Float or Double for a second derivative, got ", x.scalar_type());
}

at::Tensor AutogradScale(const at::Tensor& gradient, const at::Tensor& target, int64_t ignored,
                         std::string_view reduction) {
  static const auto op = Operator<decltype(ComputeScale)>(kScale);
  const at::Tensor z = CallBelowAutograd(op, gradient, target, ignored, reduction);
  if (GradientWanted({gradient})) {
    CheckTwice(gradient);
    RecordGradient("MyCrossEntropyBackwardScaleBackward", {gradient}, z, {gradient, target},
                   [ignored, reduction = std::string(reduction)](const BackwardCall& call) {
                     const at::Tensor per_one =
                         Scale(at::ones_like(call.saved[0]), call.saved[1], ignored, reduction);
                     return TensorList{SumToLoss(MyMul(call.gradient(), per_one), reduction)};
                   });
  }
  return z;
}

// --- the gradient of x ---------------------------------------------------------------------------

void CheckArguments(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& target,
                    int64_t ignored, op::LossReduction reduction) {
  CheckLogits(kWhere, x, target, ignored);
  CheckGradient(kWhere, gradient, target, reduction);
  CheckSameKind(kWhere, x, gradient, "gradient");
}

at::Tensor Compute(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& target,
                   int64_t ignored, std::string_view reduction_name) {  // PrivateUse1 and CPU
  const op::LossReduction reduction = ReductionOf(kWhere, reduction_name);
  CheckArguments(gradient, x, target, ignored, reduction);
  const at::Tensor scales = CrossEntropyScales(gradient, target, ignored, reduction);
  const RowOperand rows(x, 1);
  const at::Tensor z = at::empty(x.sizes(), x.options());
  TensorLauncher launcher(z, {rows.tensor(), scales, target});
  Check(op::MyCrossEntropyBackward(rows, TargetOf(target, ignored), scales.const_data_ptr(),
                                   Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& target,
                int64_t ignored, std::string_view reduction) {
  CheckArguments(gradient, x, target, ignored, ReductionOf(kWhere, reduction));
  return at::empty_symint(x.sym_sizes(), x.options());
}

/// With v the gradient of scale * (p - onehot), p = softmax(x): that of scale is the sum of
/// v * (p - onehot) over classes, that of x scale * p * (v - sum(v * p)).
TensorList GoBack(const BackwardCall& call, int64_t ignored, std::string_view reduction) {
  using SoftmaxBackward = at::Tensor(const at::Tensor&, const at::Tensor&, int64_t);
  static const auto softmax = Operator<at::Tensor(const at::Tensor&, int64_t)>("npu::my_softmax");
  static const auto softmax_backward = Operator<SoftmaxBackward>("npu::my_softmax_backward");
  const at::Tensor &v = call.gradient(), &gradient = call.saved[0], &x = call.saved[1],
                   &target = call.saved[2];
  TensorList gradients(2);
  if (call.wanted[0]) {
    const at::Tensor per_one =
        CrossEntropyBackward(at::ones_like(gradient), x, target, ignored, reduction);
    gradients[0] = SumToLoss(MyMul(v, per_one), reduction);
  }
  if (call.wanted[1]) {
    gradients[1] = MyMul(softmax_backward.call(v, softmax.call(x, 1), 1),
                         Scale(gradient, target, ignored, reduction));
  }
  return gradients;
}

at::Tensor Autograd(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& target,
                    int64_t ignored, std::string_view reduction) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, gradient, x, target, ignored, reduction);
  if (GradientWanted({gradient, x})) {
    RecordGradient("MyCrossEntropyBackwardBackward", {gradient, x}, z, {gradient, x, target},
                   [ignored, reduction = std::string(reduction)](const BackwardCall& call) {
                     CheckTwice(call.saved[1]);
                     return GoBack(call, ignored, reduction);
                   });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_cross_entropy_backward(Tensor gradient, Tensor self, Tensor target, int ignore_index, "
      "str reduction) -> Tensor",
      Compute, Meta, Autograd, Autocast::kNone);
  DefineOperator(
      "my_cross_entropy_backward_scale(Tensor gradient, Tensor target, int ignore_index, str "
      "reduction) -> Tensor",
      ComputeScale, MetaScale, AutogradScale, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere, kScale},
                                                              &Define);

}  // namespace

at::Tensor CrossEntropyScales(const at::Tensor& gradient, const at::Tensor& target, int64_t ignored,
                              op::LossReduction reduction) {
  const at::Tensor scales = EmptyPerRow(gradient, {target.size(0), 1});
  TensorLauncher launcher(scales, {gradient, target});
  Check(op::MyCrossEntropyBackwardScale(Operand(gradient, gradient.sizes()),
                                        TargetOf(target, ignored), target.size(0), reduction,
                                        scales.mutable_data_ptr(), launcher));
  return scales;
}

at::Tensor CrossEntropyBackward(const at::Tensor& gradient, const at::Tensor& x,
                                const at::Tensor& target, int64_t ignored,
                                std::string_view reduction) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  return op.call(gradient, x, target, ignored, reduction);
}

}  // namespace npu_host
