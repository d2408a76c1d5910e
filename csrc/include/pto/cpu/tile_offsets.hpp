// SPDX-License-Identifier: Apache-2.0
// A path that programs for simulators include.
#pragma once

#include "pto/layout.hpp"

namespace pto {

/// Distance of the element in row and col from the start of a tile, in elements.
template <class TileT>
constexpr size_t GetTileElementOffset(size_t row, size_t col) {
  constexpr detail::LineOrder kLines = detail::kTileKind<TileT>.lines;
  return kLines.lines_are_rows ? kLines.Offset(row, col) : kLines.Offset(col, row);
}

}  // namespace pto
