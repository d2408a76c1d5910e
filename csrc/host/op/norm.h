// SPDX-License-Identifier: Apache-2.0
// What norms in PyTorch share. A norm works on the last dimensions of x, its rows.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <optional>
#include <vector>

#include "op/my_norm.h"
#include "op/operand.h"

namespace npu_host {

/// How a norm was computed, for the way back.
struct Norm {
  std::vector<c10::SymInt> shape;
  double eps;
  bool centered;
};

/// A tensor, or an undefined one.
inline at::Tensor ValueOr(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}

/// Raises unless the last sizes of x are shape, and operand, if defined, has that shape and is of
/// the kind of x.
void CheckRows(const char* where, const at::Tensor& x, c10::SymIntArrayRef shape);
void CheckRow(const char* where, const at::Tensor& x, c10::SymIntArrayRef shape,
              const at::Tensor& operand, const char* name);

/// x as kernels of norms see it: its last row_dims dimensions as one that is contiguous. If they do
/// not lie that way, a copy of it.
class RowOperand {
 public:
  RowOperand(const at::Tensor& x, size_t row_dims);

  operator op::Tensor() const {  // NOLINT(google-explicit-constructor)
    return {data_, dtype_, static_cast<int>(shape_.size()), shape_.data(), strides_.data()};
  }
  /// What must live until the kernel has run.
  const at::Tensor& tensor() const { return tensor_; }

 private:
  at::Tensor tensor_;
  void* data_;
  op::DType dtype_;
  c10::SmallVector<int64_t, 6> shape_;
  c10::SmallVector<int64_t, 6> strides_;
};

/// A weight or bias as kernels see it: contiguous, or null.
class RowVector {
 public:
  explicit RowVector(const at::Tensor& x);

  const void* data() const { return tensor_.defined() ? tensor_.const_data_ptr() : nullptr; }
  /// Adds what must live until the kernel has run.
  void AppendTo(c10::SmallVectorImpl<at::Tensor>& kept) const {
    if (tensor_.defined()) kept.push_back(tensor_);
  }

 private:
  at::Tensor tensor_;
};

/// The means (of no row unless centered) and factors of rows, in float32 or float64.
struct RowStatistics {
  at::Tensor mean;
  at::Tensor scale;

  op::NormStatistics data() const { return {mean.mutable_data_ptr(), scale.mutable_data_ptr()}; }
};
RowStatistics LaunchStatistics(const RowOperand& x, op::NormRule rule);

/// Elements of a row.
double RowLength(const Norm& norm);

/// The sizes of x with 1 in all dimensions of a row.
std::vector<c10::SymInt> SizesPerRow(const at::Tensor& x, size_t row_dims);

// --- operators, all differentiable ---------------------------------------------------------------

/// x^, times weight if that is defined: my_layer_norm or my_rms_norm.
at::Tensor NormForward(const at::Tensor& x, const at::Tensor& weight, const Norm& norm);

/// The gradient of x from that of x^ * weight; weight may be undefined.
at::Tensor NormBackward(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
                        const Norm& norm);

/// The gradient of weight.
at::Tensor NormWeightBackward(const at::Tensor& gradient, const at::Tensor& x, const Norm& norm);

/// The factor of each row, 1 in all dimensions of a row.
at::Tensor NormScale(const at::Tensor& x, const Norm& norm);

}  // namespace npu_host
