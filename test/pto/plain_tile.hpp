// SPDX-License-Identifier: Apache-2.0
// Elements of tiles by the definition of the layouts, for references that share no code with the
// instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "on_core.hpp"

namespace test {

/// Where element (row, col) lies: boxes in the outer order, elements in a box in the inner order.
/// Tiles of one row have no box to fill: their elements are contiguous.
template <class TileT>
size_t PlainOffset(size_t row, size_t col) {
  constexpr size_t kRows = TileT::Rows, kCols = TileT::Cols;
  if (kRows == 1) return col;
  if (!TileT::isBoxedLayout) return TileT::isRowMajor ? row * kCols + col : col * kRows + row;
  constexpr size_t kBoxRows = TileT::InnerRows, kBoxCols = TileT::InnerCols;
  const size_t box_row = row / kBoxRows, box_col = col / kBoxCols;
  const size_t in_row = row % kBoxRows, in_col = col % kBoxCols;
  const size_t box = TileT::isRowMajor ? box_row * (kCols / kBoxCols) + box_col
                                       : box_col * (kRows / kBoxRows) + box_row;
  const size_t in_box =
      TileT::isInnerRowMajor ? in_row * kBoxCols + in_col : in_col * kBoxRows + in_row;
  return box * (kBoxRows * kBoxCols) + in_box;
}

template <class TileT>
typename TileT::DType& At(const TileT& tile, size_t row, size_t col) {
  return tile.data()[PlainOffset<TileT>(row, col)];
}

/// tile[row, col] = value(row, col) over the whole extent.
template <class TileT, class Value>
void Fill(const TileT& tile, const Value& value) {
  for (int row = 0; row < TileT::Rows; ++row) {
    for (int col = 0; col < TileT::Cols; ++col) {
      At(tile, row, col) = static_cast<typename TileT::DType>(value(row, col));
    }
  }
}

template <class T>
uint64_t BitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// Numbers without pattern, the same in every run.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 2654435761u + 1) {}
  uint32_t Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  /// Of magnitude up to 2, with 11 significant bits.
  float NextFloat() { return (static_cast<int>(Next() % 4096) - 2048) / 1024.0f; }

 private:
  uint32_t state_;
};

// Tiles of the cube core by their layouts.
template <class T, int kRows, int kCols>
using MatNz = pto::Tile<pto::TileType::Mat, T, kRows, kCols, pto::BLayout::ColMajor, -1, -1,
                        pto::SLayout::RowMajor>;
template <class T, int kRows, int kCols>
using MatZn = pto::Tile<pto::TileType::Mat, T, kRows, kCols, pto::BLayout::RowMajor, -1, -1,
                        pto::SLayout::ColMajor>;
template <class T, int kRows, int kCols>
using MatNd = pto::Tile<pto::TileType::Mat, T, kRows, kCols, pto::BLayout::RowMajor, -1, -1>;
template <class T, int kRows, int kCols>
using LeftZz = pto::Tile<pto::TileType::Left, T, kRows, kCols, pto::BLayout::RowMajor, -1, -1,
                         pto::SLayout::RowMajor>;
template <class T, int kRows, int kCols>
using LeftNz = pto::Tile<pto::TileType::Left, T, kRows, kCols, pto::BLayout::ColMajor, -1, -1,
                         pto::SLayout::RowMajor>;
template <class T, int kRows, int kCols>
using Right = pto::TileRight<T, kRows, kCols, -1, -1>;
template <class T, int kRows, int kCols>
using Acc = pto::TileAcc<T, kRows, kCols, -1, -1>;
template <class T, int kCols>
using Bias = pto::Tile<pto::TileType::Bias, T, 1, kCols, pto::BLayout::RowMajor, 1, -1>;

}  // namespace test
