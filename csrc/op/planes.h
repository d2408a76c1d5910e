// SPDX-License-Identifier: Apache-2.0
// Images and weights as operators work on them: four dimensions, in pieces, with copies in a
// workspace.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/tiling/unfold.h"
#include "op/my_conv.h"
#include "op/tensor.h"
#include "op/unfold.h"

namespace op {

/// Elements that the unfolded part of an operand has, unless a single row of a window grid, or a
/// single channel, has more.
inline constexpr int64_t kUnfolded = int64_t{1} << 20;

// Dimensions of images (n, c, h, w), and of weights (co, c, kh, kw).
enum Dim { kN, kC, kH, kW };

inline int64_t Elements(const Tensor& x) {
  return x.shape[kN] * x.shape[kC] * x.shape[kH] * x.shape[kW];
}

/// True if the dimensions from d on lie as those of a contiguous tensor.
inline bool IsContiguousFrom(const Tensor& x, int d) {
  int64_t expected = 1;
  for (int i = kW; i >= d; --i) {
    if (x.shape[i] > 1 && x.strides[i] != expected) return false;
    expected *= x.shape[i];
  }
  return true;
}

inline void* At(const Tensor& x, void* data, int64_t element) {
  return static_cast<char*>(data) + element * static_cast<int64_t>(ElementSize(x.dtype));
}
inline void* At(const Tensor& x, int64_t element) { return At(x, x.data, element); }

/// A tensor with strides of its own; data may be elsewhere.
struct Lying : Tensor {
  int64_t own_shape[4], own_strides[4];

  explicit Lying(const Tensor& x) : Tensor(x) {
    std::copy_n(x.shape, 4, own_shape);
    std::copy_n(x.strides, 4, own_strides);
    shape = own_shape;
    strides = own_strides;
  }
  Lying(const Tensor& x, const int (&order)[4]) : Lying(x) {
    for (int d = 0; d < 4; ++d) {
      own_shape[d] = x.shape[order[d]];
      own_strides[d] = x.strides[order[d]];
    }
  }
  Lying(const Lying& other) : Lying(static_cast<const Tensor&>(other)) {}
  Lying& operator=(const Lying&) = delete;

  void MakeContiguous() {
    int64_t stride = 1;
    for (int d = kW; d >= 0; --d) {
      own_strides[d] = stride;
      stride *= own_shape[d];
    }
  }
};

/// Hands out the workspace, front to back.
class Workspace {
 public:
  Workspace(const Tensor& like, void* data) : like_(like), data_(data) {}

  void* Take(int64_t elements) {
    void* taken = data_ == nullptr ? nullptr : At(like_, data_, taken_);
    taken_ += elements;
    return taken;
  }
  int64_t taken() const { return taken_; }

 private:
  const Tensor& like_;
  void* data_;
  int64_t taken_ = 0;
};

/// x with the dimensions from d on contiguous: itself, or a copy in workspace.
inline Status Packed(Lying& x, int d, Workspace& workspace, Launcher* launcher) {
  if (IsContiguousFrom(x, d)) return {};
  const Lying from = x;
  x.MakeContiguous();
  x.data = workspace.Take(Elements(x));
  return launcher == nullptr ? Status{} : Pack(from, x, *launcher);
}

/// Rows of planes are contiguous, or a single element.
inline bool HasRows(const Tensor& x) { return x.shape[kW] <= 1 || x.strides[kW] == 1; }

/// How many of count pieces with so many elements each are worked on at once.
inline int64_t AtOnce(int64_t elements, int64_t count) {
  return std::clamp<int64_t>(kUnfolded / std::max<int64_t>(elements, 1), 1,
                             std::max<int64_t>(count, 1));
}

/// A copy of planes of source to a contiguous grid of rows x cols.
inline UnfoldTiling PlanesOf(const Tensor& source, int64_t rows, int64_t cols) {
  UnfoldTiling tiling = {};
  tiling.images = source.shape[kN];
  tiling.channels = source.shape[kC];
  tiling.height = source.shape[kH];
  tiling.width = source.shape[kW];
  tiling.src_image = source.strides[kN];
  tiling.src_channel = source.strides[kC];
  tiling.src_row = source.strides[kH];
  tiling.src_col = source.strides[kW];
  tiling.rows = rows;
  tiling.cols = cols;
  tiling.dst_row = cols;
  tiling.dst_channel = rows * cols;
  tiling.dst_image = source.shape[kC] * tiling.dst_channel;
  return tiling;
}

/// What the taps of window see of source on a grid of rows x cols.
inline UnfoldTiling Seen(const Tensor& source, const Tensor& weight, const Window& window,
                         int64_t rows, int64_t cols, bool spreads) {
  UnfoldTiling tiling = PlanesOf(source, rows, cols);
  tiling.dst_tap = tiling.dst_channel;
  tiling.dst_channel *= weight.shape[kH] * weight.shape[kW];
  tiling.dst_image *= weight.shape[kH] * weight.shape[kW];
  for (int d = 0; d < 2; ++d) {
    tiling.extra_taps[d] = weight.shape[kH + d] - 1;
    tiling.extra_step[d] = window.step[d] - 1;
    tiling.padding[d] = window.padding[d];
  }
  tiling.spreads = spreads;
  return tiling;
}

}  // namespace op
