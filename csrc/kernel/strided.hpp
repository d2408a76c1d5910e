// SPDX-License-Identifier: Apache-2.0
// Walking strided tensors of any shape in tiles of rows x columns.
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/pto-inst.hpp"
#include "pto/view.hpp"
#include "tiling.h"

namespace strided {

using namespace pto;

/// Tiles of kAll blocks of 32 bytes, or of one row that is longer, with kBlocks blocks per row, and
/// the row tiles within them.
template <class T, int kBlocks, int kAll = kTileBlocks>
struct Tiles {
  static constexpr int kCols = kBlocks * 32 / static_cast<int>(sizeof(T));
  static constexpr int kRows = kBlocks < kAll ? kAll / kBlocks : 1;
  using Full = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, -1, -1>;
  using Row = Tile<TileType::Vec, T, 1, kCols, BLayout::RowMajor, -1, -1>;
};

template <class T>
using Global = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, -1>>;

/// A rows x cols piece of a tensor: where it starts, and its strides in elements.
template <class T>
struct Piece {
  __gm__ T* data;
  int rows;
  int cols;
  int64_t row_stride;
  int64_t col_stride;  // 0 or 1
};

/// A buffer in UB that holds one piece of an operand at a time.
template <class T, int kBlocks, int kAll = kTileBlocks>
class Operand {
  using TileSet = Tiles<T, kBlocks, kAll>;

 public:
  explicit AICORE Operand(unsigned address = 0) : address_(address) {}

  AICORE void SetAddress(unsigned address) { address_ = address; }

  /// Loads piece, on PIPE_MTE2, or on PIPE_V where a row holds one value. What is there already is
  /// not loaded again. The tile is for reading, as long as nobody writes to the piece.
  AICORE void Load(const Piece<T>& piece) {
    if (data_ == piece.data && tile_.GetValidRow() == piece.rows &&
        tile_.GetValidCol() == piece.cols)
      return;
    data_ = piece.data;
    tile_.SetValidShape(piece.rows, piece.cols);
    TASSIGN(tile_, address_);
    if (piece.col_stride == 0) {
      Fill(piece);
    } else if (piece.row_stride == 0 && piece.rows > 1) {
      for (int row = 0; row < piece.rows; ++row) LoadRow(piece, row);
    } else {
      Global<T> global(piece.data, {piece.rows, piece.cols}, {piece.row_stride, 1});
      LoadAsView(tile_, global);
    }
  }

  AICORE typename TileSet::Full& tile() { return tile_; }

 private:
  AICORE typename TileSet::Row RowTile(int row, int cols) {
    typename TileSet::Row row_tile(1, cols);
    TASSIGN(row_tile, address_ + row * TileSet::kCols * sizeof(T));
    return row_tile;
  }

  AICORE void LoadRow(const Piece<T>& piece, int row) {
    auto row_tile = RowTile(row, piece.cols);
    Global<T> global(piece.data, {1, piece.cols}, {piece.cols, 1});
    TLOAD(row_tile, global);
  }

  AICORE void Fill(const Piece<T>& piece) {
    if (piece.row_stride == 0) {
      TEXPANDS(tile_, *piece.data);
      return;
    }
    for (int row = 0; row < piece.rows; ++row) {
      auto row_tile = RowTile(row, piece.cols);
      TEXPANDS(row_tile, piece.data[row * piece.row_stride]);
    }
  }

  unsigned address_;
  __gm__ T* data_ = nullptr;
  typename TileSet::Full tile_{0, 0};
};

/// Where a tile lies: its index in each dimension (element index in the last two), and its extent.
struct Place {
  int64_t at[kMaxDims];
  int rows;
  int cols;
};

/// The tiles of a tensor: outer dimensions one by one, the last two cut into pieces of tile_rows x
/// tile_cols.
class Grid {
 public:
  AICORE Grid(int64_t dims, const int64_t* shape, int tile_rows, int tile_cols)
      : dims_(dims),
        shape_(shape),
        cols_{tile_cols, Ceil(shape[dims - 1], tile_cols)},
        rows_{tile_rows, Ceil(shape[dims - 2], tile_rows)},
        count_(cols_.pieces * rows_.pieces) {
    for (int64_t d = 0; d < dims - 2; ++d) count_ *= shape[d];
  }

  /// The tiles First() <= t < Last() are this block's.
  AICORE int64_t First() const { return count_ * get_block_idx() / get_block_num(); }
  AICORE int64_t Last() const { return count_ * (get_block_idx() + 1) / get_block_num(); }

  AICORE int64_t count() const { return count_; }

  AICORE Place At(int64_t tile) const {
    Place place;
    place.cols = Take(tile, dims_ - 1, cols_, place);
    place.rows = Take(tile, dims_ - 2, rows_, place);
    for (int64_t d = dims_ - 3; d >= 0; --d) Take(tile, d, {1, shape_[d]}, place);
    return place;
  }

  /// Distance of place from the start of a tensor with these strides, in elements.
  AICORE int64_t Offset(const int64_t* stride, const Place& place) const {
    int64_t offset = 0;
    for (int64_t d = 0; d < dims_; ++d) offset += place.at[d] * stride[d];
    return offset;
  }

  template <class T>
  AICORE Piece<T> PieceOf(__gm__ T* data, const int64_t* stride, const Place& place) const {
    return {data + Offset(stride, place), place.rows, place.cols, stride[dims_ - 2],
            stride[dims_ - 1]};
  }

 private:
  AICORE static int64_t Ceil(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

  /// How a dimension is cut.
  struct Cut {
    int64_t unit;
    int64_t pieces;
  };

  /// Takes dimension d off the tile number; returns the extent of the tile there.
  AICORE int Take(int64_t& tile, int64_t d, Cut cut, Place& place) const {
    int64_t piece = 0;
    if (cut.pieces > 1) {
      piece = tile % cut.pieces;
      tile /= cut.pieces;
    }
    place.at[d] = piece * cut.unit;
    const int64_t left = shape_[d] - place.at[d];
    return static_cast<int>(left < cut.unit ? left : cut.unit);
  }

  int64_t dims_;
  const int64_t* shape_;
  Cut cols_;
  Cut rows_;
  int64_t count_;
};

/// Calls body with the least row size of kRowBlocks that holds cols elements of T, as a constant.
template <class T, int kIndex = 0, class Body>
AICORE void WithRowBlocks(int64_t cols, const Body& body) {
  constexpr int kBlocks = kRowBlocks[kIndex];
  if constexpr (kBlocks == kTileBlocks) {
    body(std::integral_constant<int, kBlocks>{});
  } else if (cols * static_cast<int64_t>(sizeof(T)) <= kBlocks * 32) {
    body(std::integral_constant<int, kBlocks>{});
  } else {
    WithRowBlocks<T, kIndex + 1>(cols, body);
  }
}

}  // namespace strided
