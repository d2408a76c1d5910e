// SPDX-License-Identifier: Apache-2.0
// A path that programs for simulators include.
#pragma once

#include "pto/traits.hpp"

namespace pto {

/// Distance of the element in row and col from the start of a tile, in elements.
template <class TileT>
constexpr size_t GetTileElementOffset(size_t row, size_t col) {
  return GetTileOffset<TileT>(static_cast<int>(row), static_cast<int>(col));
}

}  // namespace pto
