// SPDX-License-Identifier: Apache-2.0
// Tiles of a cube core, and the matrices in global memory that it loads and stores.
#pragma once

#include "table.hpp"

namespace fuzz {

template <class T, int kRows, int kCols>
using LeftZz = pto::Tile<pto::TileType::Left, T, kRows, kCols, pto::BLayout::RowMajor, -1, -1,
                         pto::SLayout::RowMajor>;
template <class T, int kRows, int kCols>
using RightOf = pto::TileRight<T, kRows, kCols, -1, -1>;
template <class T, int kRows, int kCols>
using AccOf = pto::TileAcc<T, kRows, kCols, -1, -1>;

template <class T>
auto Matrix(const Operands& operands) {
  using Sizes = pto::Shape<1, 1, 1, -1, -1>;
  using Steps = pto::Stride<1, 1, 1, -1, -1>;
  auto* start = reinterpret_cast<T*>(static_cast<char*>(operands.memory) + operands.global);
  return pto::GlobalTensor<T, Sizes, Steps>(start, Sizes(operands.shape[3], operands.shape[4]),
                                            Steps(operands.stride[3], operands.stride[4]));
}

// Elements of a tile's depth: two boxes.
template <class T>
inline constexpr int kDepth = kElements<T, 2> < 16 ? 16 : kElements<T, 2>;

}  // namespace fuzz
