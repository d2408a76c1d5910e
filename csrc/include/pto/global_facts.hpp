// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/instruction.hpp"
#include "pto/global_tensor.hpp"
#include "pto/tile_facts.hpp"

namespace pto::detail {

/// A global tensor without its type, and its order as lines along its contiguous dimension: rows
/// of ND, columns of DN, rows of NZ, which come in runs of the last dimension. Row and column of an
/// element:
///   ND  row over dimensions 0 to 3, column in 4;  DN  row in 3, column over 0, 1, 2, 4;
///   NZ  row over 2, 3 (16 to a box), column over 0, 1, 4 (32 bytes to a box);
///   NC1HWC0, NDC1HWC0  as NZ with one box of all rows (N, H and W) and C0 columns per (D and) C1.
/// The store of an accumulator into these takes the distance of boxes from N and C1 alone, that of
/// rows is C0. Source: PTO ISA, TSTORE.
struct GlobalFacts {
  Layout layout;
  size_t element_bytes;
  char* data;
  int64_t shape[kGlobalDims], stride[kGlobalDims];
  int64_t odd_stride = 0;  // of elements of 4 bits, one that ends within a byte

  template <class Global>
  explicit GlobalFacts(const Global& global)
      : layout(Global::layout),
        element_bytes(sizeof(typename Global::DType)),
        data(reinterpret_cast<char*>(const_cast<typename Global::RawDType*>(global.data()))) {
    static_assert(Global::layout == Layout::ND || Global::layout == Layout::DN ||
                      Global::layout == Layout::NZ || Global::layout == Layout::NC1HWC0 ||
                      Global::layout == Layout::NDC1HWC0,
                  "expected a global tensor of layout ND, DN, NZ, NC1HWC0 or NDC1HWC0");
    for (int d = 0; d < kGlobalDims; ++d) {
      shape[d] = global.GetShape(d);
      stride[d] = global.GetStride(d);
    }
    if constexpr (kPacked<typename Global::RawDType> != 1) {
      static_assert(Global::layout == Layout::ND || Global::layout == Layout::DN,
                    "expected a global tensor of layout ND or DN, of elements of 4 bits");
      const int along = Global::layout == Layout::ND ? 4 : 3;
      shape[along] = (shape[along] + 1) / 2;
      for (int d = 0; d < kGlobalDims; ++d) {
        if (d == along) continue;
        if (shape[d] > 1 && stride[d] % 2 != 0) odd_stride = stride[d];
        stride[d] /= 2;
      }
    }
    if (Global::layout == Layout::NC1HWC0) {
      TakeAsBoxes(shape[1], shape[2] * shape[3], shape[4], stride[1], stride[3]);
    } else if (Global::layout == Layout::NDC1HWC0) {
      using T = typename Global::RawDType;
      const int64_t c0 = std::is_same_v<T, int32_t> ? 16 : kC0<T>;
      TakeAsBoxes(shape[1] * shape[2], shape[3] * shape[4], c0, stride[2], stride[4]);
    }
  }

  bool LinesAreRows() const { return layout != Layout::DN; }
  bool Boxed() const { return layout != Layout::ND && layout != Layout::DN; }

  /// True where no element is named.
  bool Empty() const {
    for (const int64_t extent : shape) {
      if (extent <= 0) return true;
    }
    return false;
  }

  int64_t Rows() const {
    if (layout == Layout::ND) return shape[0] * shape[1] * shape[2] * shape[3];
    return Boxed() ? shape[2] * shape[3] : shape[3];
  }
  int64_t Cols() const {
    if (layout == Layout::ND) return shape[4];
    return shape[0] * shape[1] * (Boxed() ? 1 : shape[2]) * shape[4];
  }

  /// Elements of a line up to the next gap.
  size_t Run() const { return Boxed() ? static_cast<size_t>(shape[4]) : SIZE_MAX; }
  /// Distance of neighbours within a run, in elements.
  int64_t Step() const { return stride[LinesAreRows() ? 4 : 3]; }

  /// Distance of the first element of line from the start, in elements.
  int64_t LineStart(int64_t line) const {
    if (Boxed()) return line / shape[3] * stride[2] + line % shape[3] * stride[3];
    const int last = LinesAreRows() ? 3 : 4;
    if (line < shape[last]) return line * stride[last];
    int64_t offset = line % shape[last] * stride[last];
    line /= shape[last];
    for (int d = 2; d >= 0 && line != 0; --d) {
      offset += line % shape[d] * stride[d];
      line /= shape[d];
    }
    return offset;
  }

  /// Distance of element at of a line from the line's first, in elements.
  int64_t InLine(int64_t at) const {
    if (!Boxed()) return at * Step();
    const int64_t box = at / shape[4];
    return box / shape[1] * stride[0] + box % shape[1] * stride[1] + at % shape[4] * stride[4];
  }

 private:
  /// Boxes of all rows and c0 columns each; the rest is as in shape and stride.
  void TakeAsBoxes(int64_t boxes, int64_t rows_per_image, int64_t c0, int64_t box_stride,
                   int64_t row_stride) {
    const int64_t images = shape[0], rows = images * rows_per_image;
    const int64_t step = row_stride != 0 ? images * box_stride / row_stride * c0 : 0;
    const int64_t new_shape[] = {1, boxes, 1, rows, c0};
    const int64_t new_stride[] = {boxes * step, step, rows * c0, c0, 1};
    for (int d = 0; d < kGlobalDims; ++d) {
      shape[d] = new_shape[d];
      stride[d] = new_stride[d];
    }
  }
};

/// The starts of the lines of a global tensor, one after another, as LineStart has them.
class LineCursor {
 public:
  explicit LineCursor(const GlobalFacts& global)
      : global_(global), last_(global.LinesAreRows() ? 3 : 4) {}

  int64_t start() const { return start_; }

  void Next() {
    if (Steps(last_)) return;
    if (global_.Boxed()) {
      start_ += global_.stride[2];
      return;
    }
    for (int d = 2; d >= 0; --d) {
      if (Steps(d)) return;
    }
  }

 private:
  /// To the next index of dimension d; false where it starts again.
  bool Steps(int d) {
    if (++index_[d] < global_.shape[d]) {
      start_ += global_.stride[d];
      return true;
    }
    start_ -= (index_[d] - 1) * global_.stride[d];
    index_[d] = 0;
    return false;
  }

  const GlobalFacts& global_;
  int last_;
  int64_t index_[kGlobalDims] = {};
  int64_t start_ = 0;
};

}  // namespace pto::detail
