// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "pto/tile_facts.hpp"

/// Where the elements of a tile lie. Instructions reach tile data through these alone.
namespace pto::detail {

/// LineOrder of a tile: in constants but for compact tiles.
template <class TileT>
struct OrderOfType {
  static constexpr bool kLinesAreRows = kTileKind<TileT>.lines.lines_are_rows;
  static constexpr size_t kLines = kTileKind<TileT>.lines.lines;
  static constexpr size_t kLength = kTileKind<TileT>.lines.length;
  static constexpr size_t kRun = kTileKind<TileT>.lines.run;
  static constexpr size_t kBoxLines = kTileKind<TileT>.lines.box_lines;
};

template <class TileT, bool = kIsCompact<TileT>>
struct Order : OrderOfType<TileT> {
  constexpr Order() = default;
  constexpr explicit Order(const TileT&) {}
  static constexpr size_t Lines() { return OrderOfType<TileT>::kLines; }
  static constexpr size_t Length() { return OrderOfType<TileT>::kLength; }
  static constexpr size_t Offset(size_t line, size_t at) {
    return kTileKind<TileT>.lines.Offset(line, at);
  }
  static constexpr size_t RunStep() { return kTileKind<TileT>.lines.RunStep(); }
};

template <class TileT>
class Order<TileT, true> : public OrderOfType<TileT> {
 public:
  explicit Order(const TileT& tile) : order_(TileFacts(tile).Order()) {}
  size_t Lines() const { return order_.lines; }
  size_t Length() const { return order_.length; }
  size_t Offset(size_t line, size_t at) const { return order_.Offset(line, at); }
  size_t RunStep() const { return order_.RunStep(); }

 private:
  LineOrder order_;
};

/// Rows and columns that tile has memory for.
struct Extent {
  size_t rows, cols;
};
template <class TileT>
constexpr Extent ExtentOf(const TileT& tile) {
  const Order<TileT> order(tile);
  if constexpr (Order<TileT>::kLinesAreRows) return {order.Lines(), order.Length()};
  return {order.Length(), order.Lines()};
}

/// The valid region of a tile, cut to its extent, as it counts in memory.
template <class TileT>
inline Extent ValidExtent(const TileT& tile) {
  constexpr const TileKind& kKind = kTileKind<TileT>;
  const int rows = StoredRows<TileT>(tile.GetValidRow());
  const int cols = StoredCols<TileT>(tile.GetValidCol());
  return {static_cast<size_t>(std::clamp(rows, 0, kKind.rows)),
          static_cast<size_t>(std::clamp(cols, 0, kKind.cols))};
}

/// The valid region of a tile as lines.
template <class TileT>
struct Lines {
  using T = typename TileT::DType;
  using Layout = Order<TileT>;

  T* data;
  size_t count;
  size_t length;  // elements
  [[no_unique_address]] Layout order;

  T* operator()(size_t line, size_t at = 0) const { return data + order.Offset(line, at); }

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
  const auto [rows, cols] = ValidExtent(tile);
  const size_t count = Order<TileT>::kLinesAreRows ? rows : cols;
  const size_t length = Order<TileT>::kLinesAreRows ? cols : rows;
  return {tile.data(), length == 0 ? 0 : count, length, Order<TileT>(tile)};
}

/// Address of the element in row and col.
template <class TileT>
inline typename TileT::DType* ElementOf(const TileT& tile, size_t row, size_t col) {
  const Order<TileT> order(tile);
  return tile.data() +
         (Order<TileT>::kLinesAreRows ? order.Offset(row, col) : order.Offset(col, row));
}

}  // namespace pto::detail
