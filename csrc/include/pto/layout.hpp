// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "pto/tile.hpp"

/// Where the elements of a tile lie. Instructions reach tile data through these alone, as pointer
/// and pitch.
namespace pto::detail {

/// The valid region of an un-boxed tile as lines of contiguous elements: rows, or columns of a
/// ColMajor tile.
template <class T>
struct Lines {
  T* data;
  size_t count;
  size_t length;  // elements
  size_t pitch;   // elements from one line to the next

  T* operator[](size_t line) const { return data + line * pitch; }
};

template <class TileT>
inline Lines<typename TileT::DType> LinesOf(const TileT& tile) {
  static_assert(!TileT::isBoxedLayout, "expected a tile without inner boxes (SLayout::NoneBox)");
  // A region outside the extent is a fault at level limits; with checks off it counts as empty or
  // is cut.
  const auto rows = static_cast<size_t>(std::clamp(tile.GetValidRow(), 0, TileT::Rows));
  const auto cols = static_cast<size_t>(std::clamp(tile.GetValidCol(), 0, TileT::Cols));
  if constexpr (TileT::isRowMajor) return {tile.data(), cols == 0 ? 0 : rows, cols, TileT::Cols};
  return {tile.data(), rows == 0 ? 0 : cols, rows, TileT::Rows};
}

/// The valid region of tile as an access, for observers.
template <class TileT>
inline npu::Access AccessOf(const TileT& tile, bool is_write) {
  using T = typename TileT::DType;
  const auto lines = LinesOf(tile);
  return {SpaceOf(TileT::Loc),    is_write, lines.data, lines.count, lines.length * sizeof(T),
          lines.pitch * sizeof(T)};
}

template <class TileT>
inline npu::Access Writes(const TileT& tile) {
  return AccessOf(tile, true);
}

template <class TileT>
inline npu::Access Reads(const TileT& tile) {
  return AccessOf(tile, false);
}

}  // namespace pto::detail
