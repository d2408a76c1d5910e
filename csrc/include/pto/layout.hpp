// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "pto/tile.hpp"

/// Where the elements of a tile lie. Instructions reach tile data through these alone.
namespace pto::detail {

/// Order of the elements of a tile type: lines (rows, or columns where those are contiguous) that
/// consist of runs of contiguous elements: one run in a tile without boxes, one per inner box else.
template <class TileT>
struct Order {
  static constexpr bool kLinesAreRows =
      TileT::isBoxedLayout ? TileT::isInnerRowMajor : TileT::isRowMajor;
  static constexpr size_t kLines = kLinesAreRows ? TileT::Rows : TileT::Cols;
  static constexpr size_t kLength = kLinesAreRows ? TileT::Cols : TileT::Rows;
  // A tile of one line, or of lines shorter than a box, has no more elements than its extent.
  static constexpr size_t kBoxLength = kLinesAreRows ? TileT::InnerCols : TileT::InnerRows;
  static constexpr size_t kRun =
      TileT::isBoxedLayout && kBoxLength < kLength ? kBoxLength : kLength;

  /// Distance of element at of a line from the start of the tile, in elements.
  static constexpr size_t Offset(size_t line, size_t at) {
    if constexpr (!TileT::isBoxedLayout) {
      return line * kLength + at;
    } else if constexpr (TileT::isRowMajor == kLinesAreRows) {  // boxes along a line: Zz, Nn
      constexpr size_t kInner = kLinesAreRows ? TileT::InnerRows : TileT::InnerCols;
      constexpr size_t kBoxLines = kInner < kLines ? kInner : kLines;
      return line / kBoxLines * (kBoxLines * kLength) + at / kRun * (kBoxLines * kRun) +
             line % kBoxLines * kRun + at % kRun;
    } else {  // boxes across the lines: Nz, Zn
      return at / kRun * (kLines * kRun) + line * kRun + at % kRun;
    }
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

/// The valid region of tile as an access, for observers. Of a boxed tile, whose region is scattered
/// over its boxes, it is the whole range from the first to the last element.
template <class TileT>
inline npu::Access AccessOf(const TileT& tile, bool is_write) {
  using T = typename TileT::DType;
  const auto lines = LinesOf(tile);
  constexpr npu::Space kSpace = SpaceOf(TileT::Loc);
  if constexpr (TileT::isBoxedLayout) {
    const size_t last =
        lines.count == 0 ? 0 : Order<TileT>::Offset(lines.count - 1, lines.length - 1) + 1;
    return {kSpace, is_write, lines.data, last != 0, last * sizeof(T), last * sizeof(T)};
  } else {
    return {kSpace,
            is_write,
            lines.data,
            lines.count,
            lines.length * sizeof(T),
            Order<TileT>::kLength * sizeof(T)};
  }
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
