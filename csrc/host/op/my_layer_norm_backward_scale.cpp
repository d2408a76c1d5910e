// SPDX-License-Identifier: Apache-2.0
// The factor 1 / sqrt(mean square + eps) of each row, for second derivatives of norms.
#include <ATen/ops/empty.h>

#include "op/arithmetic.h"
#include "op/autograd.h"
#include "op/define.h"
#include "op/norm.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_layer_norm_backward_scale";

at::Tensor Compute(const at::Tensor& x, c10::IntArrayRef shape, double eps,
                   bool centered) {  // PrivateUse1 and CPU
  CheckRows(kWhere, x, c10::fromIntArrayRefSlow(shape));
  const RowStatistics statistics = LaunchStatistics(RowOperand(x, shape.size()), {eps, centered});
  c10::SmallVector<int64_t, 6> sizes(x.sizes());
  for (size_t d = sizes.size() - shape.size(); d < sizes.size(); ++d) sizes[d] = 1;
  return statistics.scale.view(sizes);
}

at::Tensor Meta(const at::Tensor& x, c10::SymIntArrayRef shape, double /*eps*/, bool /*centered*/) {
  CheckRows(kWhere, x, shape);
  const bool is_double = x.scalar_type() == at::kDouble;
  return at::empty_symint(SizesPerRow(x, shape.size()),
                          x.options().dtype(is_double ? at::kDouble : at::kFloat));
}

at::Tensor Autograd(const at::Tensor& x, c10::SymIntArrayRef shape, double eps, bool centered) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, shape, eps, centered);
  if (GradientWanted({x})) {
    const Norm norm = {shape.vec(), eps, centered};
    RecordGradient("MyNormScaleBackward", {x}, z, {x}, [norm](const BackwardCall& call) {
      const at::Tensor& x = call.saved[0];
      const at::Tensor scale = NormScale(x, norm).to(x.scalar_type());
      const at::Tensor gradient = MyMul(call.gradient().to(x.scalar_type()), MyMul(scale, scale));
      return TensorList{Multiple(MyMul(NormForward(x, {}, norm), gradient), -1 / RowLength(norm))};
    });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_layer_norm_backward_scale(Tensor x, SymInt[] normalized_shape, float eps, bool centered) "
      "-> Tensor",
      Compute, Meta, Autograd, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor NormScale(const at::Tensor& x, const Norm& norm) {
  static const auto op = Operator<decltype(Meta)>(kWhere);
  return op.call(x, norm.shape, norm.eps, norm.centered);
}

}  // namespace npu_host
