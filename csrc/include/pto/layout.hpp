// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "pto/tile_facts.hpp"

/// Where the elements of a tile lie. Instructions reach tile data through these alone.
namespace pto::detail {

/// LineOrder of a tile type, in constants.
template <class TileT>
struct Order {
  static constexpr bool kLinesAreRows = kTileKind<TileT>.lines.lines_are_rows;
  static constexpr size_t kLines = kTileKind<TileT>.lines.lines;
  static constexpr size_t kLength = kTileKind<TileT>.lines.length;
  static constexpr size_t kRun = kTileKind<TileT>.lines.run;

  static constexpr size_t Offset(size_t line, size_t at) {
    return kTileKind<TileT>.lines.Offset(line, at);
  }
};

/// The valid region of a tile as lines.
template <class TileT>
struct Lines {
  using T = typename TileT::DType;
  using Layout = Order<TileT>;

  T* data;
  size_t count;
  size_t length;  // elements

  T* operator()(size_t line, size_t at = 0) const { return data + Layout::Offset(line, at); }

  /// Calls body(line, at, count) for each run of contiguous elements.
  template <class Body>
  void ForEachRun(const Body& body) const {
    for (size_t line = 0; line < count; ++line) {
      for (size_t at = 0; at < length; at += Layout::kRun) {
        body(line, at, std::min(Layout::kRun, length - at));
      }
    }
  }
};

template <class TileT>
inline Lines<TileT> LinesOf(const TileT& tile) {
  // A region outside the extent is a fault at level limits; with checks off it counts as empty or
  // is cut.
  const auto rows = static_cast<size_t>(std::clamp(tile.GetValidRow(), 0, TileT::Rows));
  const auto cols = static_cast<size_t>(std::clamp(tile.GetValidCol(), 0, TileT::Cols));
  const size_t count = Order<TileT>::kLinesAreRows ? rows : cols;
  const size_t length = Order<TileT>::kLinesAreRows ? cols : rows;
  return {tile.data(), length == 0 ? 0 : count, length};
}

/// Address of the element in row and col.
template <class TileT>
inline typename TileT::DType* ElementOf(const TileT& tile, size_t row, size_t col) {
  using Layout = Order<TileT>;
  return tile.data() +
         (Layout::kLinesAreRows ? Layout::Offset(row, col) : Layout::Offset(col, row));
}

}  // namespace pto::detail
