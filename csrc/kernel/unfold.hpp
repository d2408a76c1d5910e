// SPDX-License-Identifier: Apache-2.0
// Moving boxes of strided elements through UB.
#pragma once

#include <cstdint>
#include <cstring>

#include "strided.hpp"
#include "tiling/unfold.h"

namespace unfold {

using namespace pto;

constexpr int kBoxDims = 5;

/// A number for each dimension, outermost first.
struct Extents {
  int64_t of[kBoxDims];

  AICORE int64_t& operator[](int d) { return of[d]; }
  AICORE int64_t operator[](int d) const { return of[d]; }
};

/// Strided elements in global memory; strides in elements, the last one 1.
template <class T>
struct Box {
  __gm__ T* data;
  Extents stride;

  AICORE __gm__ T* At(const Extents& index) const {
    int64_t offset = 0;
    for (int d = 0; d < kBoxDims; ++d) offset += index[d] * stride[d];
    return data + offset;
  }
};

/// Joins dimensions that lie behind each other in all boxes, so that rows are long and many.
template <class T, int kBoxes>
AICORE void Join(Extents& shape, Box<T>* const (&boxes)[kBoxes]) {
  for (int d = kBoxDims - 1; d > 0; --d) {
    while (true) {
      int outer = d - 1;
      while (outer > 0 && shape[outer] == 1) --outer;
      bool joins = shape[outer] > 1;
      for (Box<T>* box : boxes) {
        joins = joins && box->stride[outer] == box->stride[d] * shape[d];
      }
      if (!joins) break;
      shape[d] *= shape[outer];
      shape[outer] = 1;
    }
  }
}

/// A walk over a box in pieces whose rows (all dimensions but the last) and columns fit a tile.
class Pieces {
 public:
  AICORE Pieces(const Extents& shape, int max_rows, int max_cols) : shape_(shape) {
    Take(4, max_cols);
    int64_t rows = 1;
    bool whole = true;
    for (int d = 3; d >= 0; --d) {
      // Elements of further dimensions are found by divisions: not worth it where rows are many.
      Take(d, whole && rows < kManyRows ? max_rows / rows : 1);
      whole = whole && piece_[d] == shape[d];
      rows *= piece_[d];
    }
  }

  AICORE int64_t count() const { return count_; }

  /// Start and extent of piece number at.
  AICORE void Find(int64_t at, Extents& index, Extents& extent) const {
    for (int d = kBoxDims - 1; d >= 0; --d) {
      const int64_t pieces = (shape_[d] + piece_[d] - 1) / piece_[d];
      index[d] = at % pieces * piece_[d];
      at /= pieces;
      const int64_t left = shape_[d] - index[d];
      extent[d] = left < piece_[d] ? left : piece_[d];
    }
  }

 private:
  static constexpr int64_t kManyRows = 16;

  AICORE void Take(int d, int64_t most) {
    piece_[d] = shape_[d] < most ? shape_[d] : most;
    if (piece_[d] < 1) piece_[d] = 1;
    count_ *= (shape_[d] + piece_[d] - 1) / piece_[d];
  }

  const Extents& shape_;
  Extents piece_ = {};
  int64_t count_ = 1;
};

/// Copies and fills boxes of T.
template <class T>
class Mover {
 public:
  explicit AICORE Mover(T fill) : fill_(fill) {
    for (int i = 0; i < 2; ++i) set_flag(PIPE_MTE3, PIPE_MTE2, event_t(i));  // buffers start free
  }

  AICORE void Finish() {
    for (int i = 0; i < 2; ++i) wait_flag(PIPE_MTE3, PIPE_MTE2, event_t(i));  // leave no flag set
  }

  /// dst = src.
  AICORE void Copy(Box<T> dst, Box<T> src, Extents shape) {
    Join(shape, {&dst, &src});
    strided::WithRowBlocks<T>(shape[4], [&](auto blocks) {
      using TileT = BufferTile<blocks.value, kBufferBlocks>;
      const Pieces pieces(shape, TileT::Rows, TileT::Cols);
      Extents index, extent;
      for (int64_t at = 0; at < pieces.count(); ++at, buffer_ ^= 1) {
        pieces.Find(at, index, extent);
        TileT tile = TileOf<TileT>(extent);
        TASSIGN(tile, buffer_ * kBufferBlocks * 32);
        Global from = GlobalOf(src, index, extent), to = GlobalOf(dst, index, extent);
        wait_flag(PIPE_MTE3, PIPE_MTE2, event_t(buffer_));  // the buffer was stored
        TLOAD(tile, from);
        set_flag(PIPE_MTE2, PIPE_MTE3, event_t(buffer_));
        wait_flag(PIPE_MTE2, PIPE_MTE3, event_t(buffer_));  // the buffer is loaded
        TSTORE(to, tile);
        set_flag(PIPE_MTE3, PIPE_MTE2, event_t(buffer_));
      }
    });
  }

  /// dst = the fill value.
  AICORE void Fill(Box<T> dst, Extents shape) {
    Join(shape, {&dst});
    MakeFill();
    strided::WithRowBlocks<T>(shape[4], [&](auto blocks) {
      using TileT = BufferTile<blocks.value, kTileBlocks>;
      const Pieces pieces(shape, TileT::Rows, TileT::Cols);
      Extents index, extent;
      for (int64_t at = 0; at < pieces.count(); ++at) {
        pieces.Find(at, index, extent);
        TileT tile = TileOf<TileT>(extent);
        TASSIGN(tile, kFillAddress);
        Global to = GlobalOf(dst, index, extent);
        TSTORE(to, tile);
      }
    });
  }

 private:
  static constexpr int kBufferBlocks = 4 * kTileBlocks;
  static constexpr unsigned kFillAddress = 2 * kBufferBlocks * 32;

  template <int kBlocks, int kAllBlocks>
  using BufferTile = Tile<TileType::Vec, T, kAllBlocks / kBlocks,
                          kBlocks * 32 / static_cast<int>(sizeof(T)), BLayout::RowMajor, -1, -1>;
  using Global = GlobalTensor<T, Shape<-1, -1, -1, -1, -1>, Stride<-1, -1, -1, -1, 1>>;

  template <class TileT>
  AICORE static TileT TileOf(const Extents& extent) {
    return TileT(static_cast<int>(extent[0] * extent[1] * extent[2] * extent[3]),
                 static_cast<int>(extent[4]));
  }

  AICORE static Global GlobalOf(const Box<T>& box, const Extents& index, const Extents& extent) {
    return Global(box.At(index), {extent[0], extent[1], extent[2], extent[3], extent[4]},
                  {box.stride[0], box.stride[1], box.stride[2], box.stride[3]});
  }

  AICORE void MakeFill() {
    if (fill_is_made_) return;
    fill_is_made_ = true;
    BufferTile<kTileBlocks, kTileBlocks> tile(1, decltype(tile)::Cols);
    TASSIGN(tile, kFillAddress);
    TEXPANDS(tile, fill_);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  }

  T fill_;
  bool fill_is_made_ = false;
  int buffer_ = 0;
};

}  // namespace unfold
