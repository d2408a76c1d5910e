// SPDX-License-Identifier: Apache-2.0
#include "op/my_softmax.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "op/arithmetic.h"
#include "op/autograd.h"
#include "op/define.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_softmax";
constexpr const char* kBackward = "npu::my_softmax_backward";

/// dim counted from the front. Raises unless x is floating and has it; what has no dimension counts
/// as having one.
int64_t CheckDim(const char* where, const char* operand, const at::Tensor& x, int64_t dim) {
  CheckOperand(where, operand, x);
  TORCH_CHECK_TYPE(x.is_floating_point(), where, ": expected ", operand,
                   " of a floating point dtype, got ", x.scalar_type());
  const int64_t dims = std::max<int64_t>(x.dim(), 1);
  TORCH_CHECK_INDEX(-dims <= dim && dim < dims, where, ": expected dim from ", -dims, " to ",
                    dims - 1, ", got ", dim);
  return dim < 0 ? dim + dims : dim;
}

at::Tensor Compute(const at::Tensor& x, int64_t dim) {  // PrivateUse1 and CPU
  dim = CheckDim(kWhere, "x", x, dim);
  const at::Tensor z = at::empty(x.sizes(), x.options());
  TensorLauncher launcher(z, {x});
  Check(
      op::MySoftmax(Operand(x, x.sizes()), static_cast<int>(dim), Operand(z, x.sizes()), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, int64_t dim) {
  CheckDim(kWhere, "x", x, dim);
  return at::empty_symint(x.sym_sizes(), x.options());
}

at::Tensor Backward(const at::Tensor& gradient, const at::Tensor& result, int64_t dim) {
  static const auto op = Operator<decltype(Backward)>(kBackward);
  return op.call(gradient, result, dim);
}

at::Tensor Autograd(const at::Tensor& x, int64_t dim) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, dim);
  if (GradientWanted({x})) {
    RecordGradient("MySoftmaxBackward", {x}, z, {z}, [dim](const BackwardCall& call) {
      return TensorList{Backward(call.gradient(), call.saved[0], dim)};
    });
  }
  return z;
}

// --- the way back --------------------------------------------------------------------------------

int64_t CheckBackward(const at::Tensor& gradient, const at::Tensor& result, int64_t dim) {
  dim = CheckDim(kBackward, "gradient", gradient, dim);
  CheckSameKind(kBackward, gradient, result, "result");
  TORCH_CHECK(gradient.sym_sizes() == result.sym_sizes(), kBackward, ": expected result of size ",
              gradient.sym_sizes(), " (the size of gradient), got ", result.sym_sizes());
  return dim;
}

at::Tensor ComputeBackward(const at::Tensor& gradient, const at::Tensor& result, int64_t dim) {
  dim = CheckBackward(gradient, result, dim);
  const at::Tensor z = at::empty(gradient.sizes(), gradient.options());
  TensorLauncher launcher(z, {gradient, result});
  Check(op::MySoftmaxBackward(Operand(gradient, z.sizes()), Operand(result, z.sizes()),
                              static_cast<int>(dim), Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor MetaBackward(const at::Tensor& gradient, const at::Tensor& result, int64_t dim) {
  CheckBackward(gradient, result, dim);
  return at::empty_symint(gradient.sym_sizes(), gradient.options());
}

/// The gradient of result in y * (g - sum(g * y)), from that of the whole, v:
/// v * g - v * sum(g * y) - g * sum(v * y).
at::Tensor GradientOfResult(const at::Tensor& v, const at::Tensor& g, const at::Tensor& y,
                            int64_t dim) {
  std::vector<c10::SymInt> reduced = y.sym_sizes().vec();
  if (!reduced.empty()) reduced[dim < 0 ? dim + y.dim() : dim] = 1;
  const at::Tensor g_sum = SumTo(MyMul(g, y), reduced), v_sum = SumTo(MyMul(v, y), reduced);
  const at::Tensor taken = Sum(MyMul(v, g_sum), MyMul(g, v_sum));
  return Sum(MyMul(v, g), Multiple(taken, -1));
}

at::Tensor AutogradBackward(const at::Tensor& gradient, const at::Tensor& result, int64_t dim) {
  static const auto op = Operator<decltype(ComputeBackward)>(kBackward);
  const at::Tensor z = CallBelowAutograd(op, gradient, result, dim);
  if (GradientWanted({gradient, result})) {
    RecordGradient("MySoftmaxBackwardBackward", {gradient, result}, z, {gradient, result},
                   [dim](const BackwardCall& call) {
                     const at::Tensor &g = call.saved[0], &y = call.saved[1];
                     TensorList gradients(2);
                     if (call.wanted[0]) gradients[0] = Backward(call.gradient(), y, dim);
                     if (call.wanted[1])
                       gradients[1] = GradientOfResult(call.gradient(), g, y, dim);
                     return gradients;
                   });
  }
  return z;
}

void Define() {
  DefineOperator("my_softmax(Tensor x, int dim) -> Tensor", Compute, Meta, Autograd,
                 Autocast::kFloat);
  DefineOperator("my_softmax_backward(Tensor gradient, Tensor result, int dim) -> Tensor",
                 ComputeBackward, MetaBackward, AutogradBackward, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere, kBackward},
                                                              &Define);

}  // namespace
}  // namespace npu_host
