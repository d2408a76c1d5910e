// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace op {

/// The dimensions of an operation on kOperands tensors of one shape, as few as describe it.
template <int kOperands>
class Dimensions {
 public:
  static constexpr int kMax = 64;  // what a framework may pass

  /// Adds a dimension inside the ones before it. Extents of 1 are dropped, a dimension that
  /// continues the one before it in all operands is merged into it.
  void Append(int64_t extent, const int64_t (&stride)[kOperands]) {
    if (extent == 1) return;
    if (count_ > 0 && Continues(extent, stride)) {
      shape_[count_ - 1] *= extent;
      for (int k = 0; k < kOperands; ++k) stride_[k][count_ - 1] = stride[k];
      return;
    }
    AppendAsIs(extent, stride);
  }

  /// Adds a dimension and keeps it apart.
  void AppendAsIs(int64_t extent, const int64_t (&stride)[kOperands]) {
    shape_[count_] = extent;
    for (int k = 0; k < kOperands; ++k) stride_[k][count_] = stride[k];
    ++count_;
  }

  /// Adds outer dimensions of extent 1 until there are two, which is what tiles have.
  void PadToTwo() {
    while (count_ < 2) {
      for (int d = count_; d > 0; --d) {
        shape_[d] = shape_[d - 1];
        for (int k = 0; k < kOperands; ++k) stride_[k][d] = stride_[k][d - 1];
      }
      shape_[0] = 1;
      for (int k = 0; k < kOperands; ++k) stride_[k][0] = 0;
      ++count_;
    }
  }

  int count() const { return count_; }
  int64_t shape(int d) const { return shape_[d]; }
  int64_t stride(int operand, int d) const { return stride_[operand][d]; }
  /// Stride of operand in the innermost dimension; 1 when there is none.
  int64_t inner_stride(int operand) const { return count_ == 0 ? 1 : stride_[operand][count_ - 1]; }

 private:
  bool Continues(int64_t extent, const int64_t (&stride)[kOperands]) const {
    for (int k = 0; k < kOperands; ++k) {
      if (stride_[k][count_ - 1] != stride[k] * extent) return false;
    }
    return true;
  }

  int count_ = 0;
  int64_t shape_[kMax + 2];
  int64_t stride_[kOperands][kMax + 2];
};

}  // namespace op
