// SPDX-License-Identifier: Apache-2.0
#include "op/my_cross_entropy.h"

#include <ATen/ops/empty.h>

#include <string>

#include "op/autograd.h"
#include "op/cross_entropy.h"
#include "op/define.h"
#include "op/memory.h"
#include "op/norm.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_cross_entropy";

at::Tensor Compute(const at::Tensor& x, const at::Tensor& target, int64_t ignored,
                   std::string_view reduction_name) {  // PrivateUse1 and CPU
  const op::LossReduction reduction = ReductionOf(kWhere, reduction_name);
  CheckLogits(kWhere, x, target, ignored);
  const bool is_reduced = reduction != op::LossReduction::kNone;
  const RowOperand rows(x, 1);
  const at::Tensor z =
      is_reduced ? at::empty({}, x.options()) : at::empty(target.sizes(), x.options());
  const at::Tensor losses = is_reduced ? EmptyPerRow(x, {x.size(0)}) : z;
  TensorLauncher launcher(z, {rows.tensor(), target, losses});
  Check(op::MyCrossEntropy(rows, TargetOf(target, ignored), reduction, losses.mutable_data_ptr(),
                           Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, const at::Tensor& target, int64_t ignored,
                std::string_view reduction) {
  CheckLogits(kWhere, x, target, ignored);
  if (ReductionOf(kWhere, reduction) == op::LossReduction::kNone)
    return at::empty_symint(target.sym_sizes(), x.options());
  return at::empty({}, x.options());
}

at::Tensor Autograd(const at::Tensor& x, const at::Tensor& target, int64_t ignored,
                    std::string_view reduction) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, target, ignored, reduction);
  if (GradientWanted({x})) {
    RecordGradient("MyCrossEntropyBackward", {x}, z, {x, target},
                   [ignored, reduction = std::string(reduction)](const BackwardCall& call) {
                     return TensorList{CrossEntropyBackward(call.gradient(), call.saved[0],
                                                            call.saved[1], ignored, reduction)};
                   });
  }
  return z;
}

void Define() {
  DefineOperator(
      "my_cross_entropy(Tensor self, Tensor target, int ignore_index=-100, str "
      "reduction=\"mean\") -> Tensor",
      Compute, Meta, Autograd, Autocast::kFloat);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

/// The labels of target are those of classes or ignored.
void CheckLabels(const char* where, const at::Tensor& target, int64_t classes, int64_t ignored) {
  const int64_t* labels = target.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < target.size(0); ++row) {
    const int64_t label = labels[row * target.stride(0)];
    TORCH_CHECK_INDEX(label == ignored || (label >= 0 && label < classes), where,
                      ": expected labels from 0 to ", classes - 1, " or ignore_index ", ignored,
                      ", got ", label, " in row ", row);
  }
}

}  // namespace

op::LossReduction ReductionOf(const char* where, std::string_view reduction) {
  if (reduction == "none") return op::LossReduction::kNone;
  if (reduction == "sum") return op::LossReduction::kSum;
  TORCH_CHECK_VALUE(reduction == "mean", where,
                    ": expected reduction \"none\", \"mean\" or \"sum\", got \"",
                    std::string(reduction), "\"");
  return op::LossReduction::kMean;
}

void CheckTarget(const char* where, const char* name, const at::Tensor& x,
                 const at::Tensor& target) {
  TORCH_CHECK_TYPE(target.defined(), where, ": expected a tensor as target, got None");
  TORCH_CHECK(target.scalar_type() == c10::kLong, where,
              ": expected target of dtype Long (labels of classes), got ", target.scalar_type());
  TORCH_CHECK(x.device() == target.device(), where, ": expected target on ", x.device(),
              " (the device of ", name, "), got ", target.device());
  CheckMemory(where, "target", target);
}

void CheckLogits(const char* where, const at::Tensor& x, const at::Tensor& target,
                 int64_t ignored) {
  CheckOperand(where, "self", x);
  TORCH_CHECK_TYPE(x.is_floating_point(), where, ": expected self of a floating point dtype, got ",
                   x.scalar_type());
  TORCH_CHECK(x.dim() == 2, where, ": expected self of two dimensions (rows, classes), got ",
              x.sym_sizes());
  CheckTarget(where, "self", x, target);
  TORCH_CHECK(target.dim() == 1 && target.sym_size(0) == x.sym_size(0), where,
              ": expected target of size [", x.sym_size(0),
              "] (a label for each row of self), got ", target.sym_sizes());
  TORCH_CHECK(x.sym_size(0) == 0 || x.sym_size(1) != 0, where,
              ": expected self of at least one class, got ", x.sym_sizes());
  if (target.is_cpu()) CheckLabels(where, target, x.size(1), ignored);
}

op::Target TargetOf(const at::Tensor& target, int64_t ignored) {
  return {target.const_data_ptr(), target.stride(0), ignored};
}

at::Tensor EmptyPerRow(const at::Tensor& x, c10::IntArrayRef sizes) {
  const bool is_double = x.scalar_type() == at::kDouble;
  return at::empty(sizes, x.options().dtype(is_double ? at::kDouble : at::kFloat));
}

}  // namespace npu_host
