// SPDX-License-Identifier: Apache-2.0
// Which dimensions kernels of rows have tiles in.
#pragma once

#include "kernel/row_tiling.h"
#include "op/dimensions.h"
#include "op/kernel_library.h"

namespace op {

/// Dimensions of a row operation on kOperands tensors (the result first): those that are kept,
/// merged, and the reduced one.
template <int kOperands>
class RowDimensions {
 public:
  void Keep(int64_t extent, const int64_t (&stride)[kOperands]) { kept_.Append(extent, stride); }

  /// Tiles with the reduced dimension along rows. It must have stride 0 or 1 in all operands, 1 in
  /// the result.
  void ReduceRows(int64_t extent, const int64_t (&stride)[kOperands]) {
    tiled_ = kept_;
    if (tiled_.count() == 0) tiled_.AppendAsIs(1, {});
    tiled_.AppendAsIs(extent, stride);
    reduced_ = tiled_.count() - 1;
  }

  /// Tiles with the reduced dimension along columns; the innermost kept one makes the rows if it
  /// can, else they have one element.
  void ReduceColumns(int64_t extent, const int64_t (&stride)[kOperands]) {
    const int last = kept_.count() - 1;
    int64_t inner_stride[kOperands];
    for (int k = 0; k < kOperands; ++k) inner_stride[k] = last < 0 ? 0 : kept_.stride(k, last);
    const bool has_rows = last >= 0 && IsContiguous(inner_stride);
    for (int d = 0; d < (has_rows ? last : last + 1); ++d) Copy(d);
    tiled_.AppendAsIs(extent, stride);
    reduced_ = tiled_.count() - 1;
    if (has_rows) {
      Copy(last);
    } else {
      for (int64_t& each : inner_stride) each = 1;
      tiled_.AppendAsIs(1, inner_stride);
    }
  }

  /// The other way round: what was given to Keep is reduced, the innermost of it along columns, and
  /// this dimension, which must be as for ReduceRows, is kept.
  void ReduceAllBut(int64_t extent, const int64_t (&stride)[kOperands]) {
    ReduceRows(extent, stride);
    reduces_all_but_ = true;
  }

  static bool IsContiguous(const int64_t (&stride)[kOperands]) {
    bool is_contiguous = stride[0] == 1;
    for (int k = 1; k < kOperands; ++k) {
      is_contiguous = is_contiguous && (stride[k] == 0 || stride[k] == 1);
    }
    return is_contiguous;
  }

  /// A sentence when there are more than tiling holds.
  Status Fill(const char* where, RowTiling<kOperands>* tiling) const {
    const Status status = CheckDims(where, "x", tiled_.count());
    if (!status.ok()) return status;
    tiling->dims = tiled_.count();
    for (int d = 0; d < tiled_.count(); ++d) {
      tiling->shape[d] = tiled_.shape(d);
      tiling->reduced[d] = (d == reduced_) != reduces_all_but_;
      for (int k = 0; k < kOperands; ++k) tiling->stride[k][d] = tiled_.stride(k, d);
    }
    return {};
  }

  bool along_rows() const { return (reduced_ == tiled_.count() - 1) != reduces_all_but_; }

 private:
  void Copy(int d) {
    int64_t stride[kOperands];
    for (int k = 0; k < kOperands; ++k) stride[k] = kept_.stride(k, d);
    tiled_.AppendAsIs(kept_.shape(d), stride);
  }

  Dimensions<kOperands> kept_;
  Dimensions<kOperands> tiled_;
  int reduced_ = 0;
  bool reduces_all_but_ = false;
};

}  // namespace op
