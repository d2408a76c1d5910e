// SPDX-License-Identifier: Apache-2.0
// What the kernels of attention share: rows in L1, the rows of a vector core, tiles between cores.
#pragma once

#include <cstdint>

#include "gemm.hpp"
#include "pto/pto-inst.hpp"
#include "tiling/attention.h"

namespace attention {

using namespace pto;

/// Rows of the result that are computed at a time.
struct Place {
  int64_t batch, head, row;
  int rows;

  /// The first row of a matrix there, or of one whose rows start at from.
  template <class T>
  AICORE __gm__ T* In(__gm__ T* data, const AttentionMatrix& matrix, int64_t from) const {
    return data + batch * matrix.batch + head * matrix.head + from * matrix.row;
  }
};

/// body(place) for this block's share of all rows, tile_rows at a time.
template <class Body>
AICORE void ForEachPlace(const AttentionTiling& tiling, int64_t rows, int tile_rows,
                         const Body& body) {
  const int64_t tiles = gemm::Ceil(rows, tile_rows);
  const int64_t count = tiling.batch * tiling.heads * tiles;
  for (int64_t at = count * get_block_idx() / get_block_num();
       at < count * (get_block_idx() + 1) / get_block_num(); ++at) {
    const int64_t matrix = at / tiles, row = at % tiles * tile_rows;
    body(Place{matrix / tiling.heads, matrix % tiling.heads, row,
               gemm::Least(rows - row, tile_rows)});
  }
}

/// Rows of q, k or v in L1: kSlots blocks of at most kRows of them. Events from kEvent on, one for
/// each slot, say that a block was extracted.
template <class T, int kRows, int kSlots, int kEvent>
class Block {
 public:
  static constexpr unsigned kBytes = kRows * kAttentionWidth * sizeof(T);  // of a slot

  explicit AICORE Block(unsigned address) : address_(address) {}
  AICORE void SetFree() {
    for (int i = 0; i < kSlots; ++i) set_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + i));
  }
  AICORE void AwaitFree() {
    for (int i = 0; i < kSlots; ++i) wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + i));
  }

  /// Loads rows of width elements, stride apart, into slot; until Release they are to be extracted.
  AICORE void Load(int slot, __gm__ T* data, int64_t stride, int rows, int width) {
    rows_[slot] = rows;
    width_ = width;
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + slot));  // the slot was extracted
    const int step = stride > gemm::kMaxLineStride ? 1 : rows;
    for (int row = 0; row < rows; row += step) {
      AsRows tile(step, width);
      TASSIGN(tile, address_ + slot * kBytes + row * C0_SIZE_BYTE);
      Global global(data + row * stride, {step, width}, {step == 1 ? width : stride});
      TLOAD(tile, global);
    }
    set_flag(PIPE_MTE2, PIPE_MTE1, event_t(kEvent + slot));
    wait_flag(PIPE_MTE2, PIPE_MTE1, event_t(kEvent + slot));  // the rows are there
  }
  AICORE void Release(int slot) { set_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + slot)); }

  /// Into L0 from row and col on, as they lie or turned.
  template <class Operand>
  AICORE void Extract(Operand& operand, int slot, int row, int col) {
    AsRows tile(rows_[slot], width_);
    TASSIGN(tile, address_ + slot * kBytes);
    TEXTRACT(operand, tile, row, col);
  }
  template <class Operand>
  AICORE void ExtractTurned(Operand& operand, int slot, int row, int col) {
    AsColumns tile(width_, rows_[slot]);
    TASSIGN(tile, address_ + slot * kBytes);
    TEXTRACT(operand, tile, row, col);
  }

 private:
  /// The same bytes: boxes of rows, one below the other, are boxes of columns, side by side.
  using AsRows =
      Tile<TileType::Mat, T, kRows, kAttentionWidth, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  using AsColumns =
      Tile<TileType::Mat, T, kAttentionWidth, kRows, BLayout::RowMajor, -1, -1, SLayout::ColMajor>;
  using Global = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;

  unsigned address_;
  int rows_[kSlots] = {}, width_ = 0;
};

/// Tiles of vector cores that the cube core gets through a pipe, in its two buffers in L1 at
/// address. Events kEvent and kEvent + 1 say that one was extracted.
template <class Pipe, class T, int kRows, int kCols, int kEvent>
class Popped {
 public:
  explicit AICORE Popped(void* slots, unsigned address) : pipe_(slots, 0, address) {}
  AICORE void SetFree() {
    for (int i = 0; i < 2; ++i) set_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + i));
  }
  AICORE void AwaitFree() {
    for (int i = 0; i < 2; ++i) wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + i));
  }

  AICORE void Pop(int rows, int cols) {
    tile_.SetValidShape(rows, cols);
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + buffer_));  // the buffer was extracted
    TPOP<Pipe, TileT, TILE_UP_DOWN>(pipe_, tile_);
    set_flag(PIPE_MTE2, PIPE_MTE1, event_t(kEvent + buffer_));
    wait_flag(PIPE_MTE2, PIPE_MTE1, event_t(kEvent + buffer_));  // the tile is there
  }
  AICORE void Release() {
    set_flag(PIPE_MTE1, PIPE_MTE2, event_t(kEvent + buffer_));
    buffer_ ^= 1;
  }
  template <class Operand>
  AICORE void Extract(Operand& operand, int row, int col) {
    TEXTRACT(operand, tile_, row, col);
  }

 private:
  using TileT = Tile<TileType::Mat, T, kRows, kCols, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;

  Pipe pipe_;
  TileT tile_{0, 0};
  int buffer_ = 0;
};

/// The rows of a tile that a vector core has: a half, of an odd number vector core 0 one more.
struct Half {
  bool is_odd;
  int first, rows;

  explicit AICORE Half(int of) : is_odd(of % 2 != 0), first(0), rows((of + 1) / 2) {
    if (get_subblockid() == 0) return;
    first = rows;
    rows = of - rows;
  }
};

/// The part of a vector core of the next tile of pipe, from it or to it.
template <class Pipe, class TileT>
AICORE void PopHalf(Pipe& pipe, TileT& tile, const Half& half) {
  if (half.is_odd) {
    TPOP<Pipe, TileT, TILE_UP_DOWN_ODD>(pipe, tile);
  } else {
    TPOP<Pipe, TileT, TILE_UP_DOWN>(pipe, tile);
  }
}
template <class Pipe, class TileT>
AICORE void PushHalf(Pipe& pipe, TileT& tile, const Half& half) {
  if (half.is_odd) {
    TPUSH<Pipe, TileT, TILE_UP_DOWN_ODD>(pipe, tile);
  } else {
    TPUSH<Pipe, TileT, TILE_UP_DOWN>(pipe, tile);
  }
}

/// A tile of a vector core, and a value for each of its rows.
template <class T, int kRows>
using Full = Tile<TileType::Vec, T, kRows, kAttentionWidth, BLayout::RowMajor, -1, -1>;
template <int kRows>
using Column = Tile<TileType::Vec, float, kRows, 1, BLayout::ColMajor, -1, 1>;
/// The same bytes to be loaded and stored.
template <int kRows>
using Line = Tile<TileType::Vec, float, 1, kRows, BLayout::RowMajor, 1, -1>;

template <class T>
using Rows = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;

/// tile = -inf where the column is not one of those up to the row plus diagonal (kUpper: from there
/// on). scratch: another tile; bits: bytes for a bit of each element.
template <bool kUpper, class TileT>
AICORE void KeepTriangle(TileT& tile, int diagonal, TileT& scratch, unsigned bits) {
  Tile<TileType::Vec, uint8_t, TileT::Rows, 32, BLayout::RowMajor, -1, -1> mask(
      tile.GetValidRow(), (tile.GetValidCol() + 7) / 8);
  TASSIGN(mask, bits);
  TTRI<TileT, kUpper ? 1 : 0>(scratch, diagonal);
  TCMPS(mask, scratch, 1.0f, CmpMode::EQ);
  TSELS(tile, mask, tile, scratch, -__builtin_inff());
}

}  // namespace attention
