// SPDX-License-Identifier: Apache-2.0
// Tiles that tests send through pipes.
#pragma once

#include <vector>

#include "on_mixed.hpp"
#include "plain_tile.hpp"

namespace test {

/// Exact in half and bfloat16, another for each tile, row and column.
inline float PipeValue(int tile, int row, int col) {
  return static_cast<float>((tile * 31 + row * 7 + col * 3) % 251 - 125);
}

/// The part of a tile of rows x cols that a vector core has.
struct Part {
  int row, col, rows, cols;
};
inline Part PlainPart(pto::TileSplitAxis split, int sub_block, int rows, int cols) {
  const int upper = (rows + 1) / 2, left = (cols + 1) / 2;
  if (split == pto::TILE_UP_DOWN || split == pto::TILE_UP_DOWN_ODD) {
    return sub_block == 0 ? Part{0, 0, upper, cols} : Part{upper, 0, rows - upper, cols};
  }
  if (split == pto::TILE_LEFT_RIGHT || split == pto::TILE_LEFT_RIGHT_ODD) {
    return sub_block == 0 ? Part{0, 0, rows, left} : Part{0, left, rows, cols - left};
  }
  return {0, 0, rows, cols};
}

inline int SubBlock() { return static_cast<int>(get_subblockid()); }

/// How many elements of got are not those of tile number, from part.row and part.col on.
template <class TileT>
int Mismatches(const TileT& got, int number, const Part& part) {
  int count = 0;
  for (int row = 0; row < part.rows; ++row) {
    for (int col = 0; col < part.cols; ++col) {
      const auto value =
          static_cast<float>(At(got, static_cast<size_t>(row), static_cast<size_t>(col)));
      count += value != PipeValue(number, part.row + row, part.col + col);
    }
  }
  return count;
}

template <class TileT>
void FillPart(const TileT& tile, int number, const Part& part) {
  for (int row = 0; row < part.rows; ++row) {
    for (int col = 0; col < part.cols; ++col) {
      At(tile, static_cast<size_t>(row), static_cast<size_t>(col)) =
          static_cast<typename TileT::DType>(PipeValue(number, part.row + row, part.col + col));
    }
  }
}

}  // namespace test
