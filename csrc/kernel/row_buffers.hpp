// SPDX-License-Identifier: Apache-2.0
// Where kernels of rows have operands and results in UB.
#pragma once

#include "strided.hpp"

namespace rows {

using namespace pto;

/// What elements of type T are computed in.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Bytes of a tile of what is computed.
constexpr unsigned kWideBytes = 2 * kTileBytes;

/// Blocks of 32 bytes of a tile of as many elements of T.
template <class T>
inline constexpr int kBlocksOfTile = kWideBytes / 32 * sizeof(T) / sizeof(Wide<T>);

/// The operands of a kernel, each with two buffers in UB and, where they are 16 bits wide, one in
/// float.
template <class T, int kBlocks, int kOperands>
class Source {
 public:
  static constexpr int kAll = kBlocksOfTile<T>;
  static constexpr unsigned kBufferBytes = kAll * 32;
  using TileSet = strided::Tiles<T, kBlocks, kAll>;
  using Full =
      Tile<TileType::Vec, Wide<T>, TileSet::kRows, TileSet::kCols, BLayout::RowMajor, -1, -1>;
  static constexpr bool kWidens = !std::is_same_v<T, Wide<T>>;
  /// Bytes in UB.
  static constexpr unsigned kBytes = kOperands * (2 * kBufferBytes + (kWidens ? kWideBytes : 0));

  explicit AICORE Source(unsigned address) : address_(address) {
    for (int b = 0; b < 2; ++b) {
      for (int k = 0; k < kOperands; ++k)
        operand_[b][k].SetAddress(address + (b * kOperands + k) * kBufferBytes);
      set_flag(PIPE_V, PIPE_MTE2, event_t(b));  // buffers start free
    }
  }
  AICORE void Finish() {  // leaves no flag set
    for (int b = 0; b < 2; ++b) wait_flag(PIPE_V, PIPE_MTE2, event_t(b));
  }

  /// Loads piece k of each operand into its buffer b, but those without data and those that are
  /// there already; until Release, tile(k) is operand k, which is widened when it is asked for.
  AICORE void Acquire(int b, const strided::Piece<T> (&piece)[kOperands]) {
    wait_flag(PIPE_V, PIPE_MTE2, event_t(b));  // buffers b were read
    for (int k = 0; k < kOperands; ++k) {
      if (piece[k].data != nullptr) operand_[b][k].Load(piece[k]);
    }
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(b));  // operands are loaded
    for (int k = 0; k < kOperands; ++k) {
      loaded_[k] = &operand_[b][k].tile();
      data_[k] = piece[k].data;
    }
  }
  AICORE void Release(int b) { set_flag(PIPE_V, PIPE_MTE2, event_t(b)); }

  /// wide = operand k, where it is 16 bits wide.
  AICORE void WidenInto(int k, Full& wide) { TCVT(wide, *loaded_[k], RoundMode::CAST_NONE); }

  AICORE Full& tile(int k) {
    if constexpr (kWidens) {
      Widen(k);
      return tile_[k];
    } else {
      return *loaded_[k];
    }
  }

 private:
  AICORE void Widen(int k) {
    const int valid_rows = loaded_[k]->GetValidRow(), valid_cols = loaded_[k]->GetValidCol();
    if (widened_[k] == data_[k] && tile_[k].GetValidRow() == valid_rows &&
        tile_[k].GetValidCol() == valid_cols)
      return;
    widened_[k] = data_[k];
    tile_[k].SetValidShape(valid_rows, valid_cols);
    TASSIGN(tile_[k], address_ + 2 * kOperands * kBufferBytes + k * kWideBytes);
    WidenInto(k, tile_[k]);
  }

  unsigned address_;
  strided::Operand<T, kBlocks, kAll> operand_[2][kOperands];
  typename TileSet::Full* loaded_[kOperands] = {};
  const T* data_[kOperands] = {};  // of what is loaded
  const T* widened_[kOperands] = {};
  Full tile_[kOperands];  // as float
};

/// The result of a kernel, with two buffers in UB. It lies apart from all operands.
template <class T, int kBlocks>
class Sink {
 public:
  using TileSet = typename Source<T, kBlocks, 1>::TileSet;
  using Full = typename Source<T, kBlocks, 1>::Full;
  static constexpr unsigned kBufferBytes = kBlocksOfTile<T> * 32;
  static constexpr unsigned kBytes = 2 * kBufferBytes;

  explicit AICORE Sink(unsigned address) : address_(address) {
    for (int b = 0; b < 2; ++b) set_flag(PIPE_MTE3, PIPE_V, event_t(b));  // buffers start free
  }
  AICORE void Finish() {  // leaves no flag set
    for (int b = 0; b < 2; ++b) wait_flag(PIPE_MTE3, PIPE_V, event_t(b));
  }

  /// Stores at piece what compute(tile) puts into tile: into work where results are 16 bits wide,
  /// which are rounded from it.
  template <class Compute>
  AICORE void Store(const strided::Piece<T>& piece, Full& work, const Compute& compute) {
    typename TileSet::Full tile(piece.rows, piece.cols);
    TASSIGN(tile, address_ + buffer_ * kBufferBytes);
    wait_flag(PIPE_MTE3, PIPE_V, event_t(buffer_));  // this buffer was stored
    strided::Global<T> global(piece.data, {piece.rows, piece.cols}, {piece.row_stride, 1});
    AssignToResult(tile, global);
    if constexpr (std::is_same_v<T, Wide<T>>) {
      compute(tile);
    } else {
      compute(work);
      TCVT(tile, work, RoundMode::CAST_RINT, SaturationMode::OFF);
    }
    set_flag(PIPE_V, PIPE_MTE3, event_t(buffer_));
    wait_flag(PIPE_V, PIPE_MTE3, event_t(buffer_));  // the result is computed
    TSTORE(global, tile);
    set_flag(PIPE_MTE3, PIPE_V, event_t(buffer_));
    buffer_ ^= 1;
  }

 private:
  unsigned address_;
  int buffer_ = 0;
};

}  // namespace rows
