// SPDX-License-Identifier: Apache-2.0
#include "op/norm.h"

#include <ATen/ops/empty.h>

#include "op/arithmetic.h"
#include "op/operators.h"

namespace npu_host {
namespace {

bool HasContiguousRows(const at::Tensor& x, size_t row_dims) {
  int64_t expected = 1;
  for (int64_t d = x.dim() - 1; d >= x.dim() - static_cast<int64_t>(row_dims); --d) {
    if (x.size(d) != 1 && x.stride(d) != expected) return false;
    expected *= x.size(d);
  }
  return true;
}

/// A contiguous copy, made by a kernel of ours.
at::Tensor Copy(const at::Tensor& x) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return Multiple(x, 1);
}

}  // namespace

void CheckRows(const char* where, const at::Tensor& x, c10::SymIntArrayRef shape) {
  CheckOperand(where, "x", x);
  TORCH_CHECK_TYPE(x.is_floating_point(), where, ": expected x of a floating point dtype, got ",
                   x.scalar_type());
  TORCH_CHECK(!shape.empty(), where,
              ": expected a normalized_shape of at least one dimension, got []");
  const c10::SymIntArrayRef sizes = x.sym_sizes();
  TORCH_CHECK(shape.size() <= sizes.size() && sizes.slice(sizes.size() - shape.size()) == shape,
              where, ": expected a normalized_shape of the last sizes of x, ", sizes, ", got ",
              shape);
}

void CheckRow(const char* where, const at::Tensor& x, c10::SymIntArrayRef shape,
              const at::Tensor& operand, const char* name) {
  if (!operand.defined()) return;
  CheckSameKind(where, x, operand, name);
  TORCH_CHECK(operand.sym_sizes() == shape, where, ": expected ", name, " of size ", shape,
              " (normalized_shape), got ", operand.sym_sizes());
}

RowOperand::RowOperand(const at::Tensor& x, size_t row_dims)
    : tensor_(HasContiguousRows(x, row_dims) ? x : Copy(x)) {
  const op::Tensor own = Operand(tensor_, tensor_.sizes());
  data_ = own.data;
  dtype_ = own.dtype;
  const size_t outer = static_cast<size_t>(x.dim()) - row_dims;
  int64_t length = 1;
  for (const int64_t extent : x.sizes().slice(outer)) length *= extent;
  shape_.append(x.sizes().begin(), x.sizes().begin() + outer);
  shape_.push_back(length);
  strides_.append(tensor_.strides().begin(), tensor_.strides().begin() + outer);
  strides_.push_back(1);
}

RowVector::RowVector(const at::Tensor& x)
    : tensor_(!x.defined() || x.is_contiguous() ? x : Copy(x)) {}

RowStatistics LaunchStatistics(const RowOperand& x, op::NormRule rule) {
  const op::Tensor operand = x;
  int64_t rows = 1;
  for (int d = 0; d < operand.dims - 1; ++d) rows *= operand.shape[d];
  const bool is_double = x.tensor().scalar_type() == at::kDouble;
  const auto options = x.tensor().options().dtype(is_double ? at::kDouble : at::kFloat);
  RowStatistics statistics = {at::empty({rule.centered ? rows : 0}, options),
                              at::empty({rows}, options)};
  TensorLauncher launcher(statistics.scale, {x.tensor(), statistics.mean});
  Check(op::MyNormStatistics(operand, rule, statistics.data(), launcher));
  return statistics;
}

double RowLength(const Norm& norm) {
  double length = 1;
  for (const c10::SymInt& extent : norm.shape)
    length *= static_cast<double>(extent.guard_int(__FILE__, __LINE__));
  return length;
}

std::vector<c10::SymInt> SizesPerRow(const at::Tensor& x, size_t row_dims) {
  std::vector<c10::SymInt> sizes = x.sym_sizes().vec();
  for (size_t d = sizes.size() - row_dims; d < sizes.size(); ++d) sizes[d] = 1;
  return sizes;
}

}  // namespace npu_host
