// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "pto/copy_tile.hpp"

/// What moves of tiles share, and moves of elements of 4 bits.
namespace pto::detail {

/// A rectangle of elements of 4 bits as bytes of a tile.
template <class TileT>
inline Region StoredRegion(Region region) {
  size_t& at = kLinesAreRows<TileT> ? region.col : region.row;
  size_t& length = kLinesAreRows<TileT> ? region.cols : region.rows;
  const size_t end = (at + length + 1) / 2;
  at /= 2;
  length = end - at;
  return region;
}

/// Faults unless both tiles are good and src holds dst at row, col.
template <class Dst, class Src>
inline void CheckMove(const char* op, const Dst& dst, const Src& src, int rows, int cols, int row,
                      int col) {
  const npu::Core& core = *npu::current_core;
  CheckTile(core, op, "dst", dst);
  CheckTile(core, op, "src", src);
  CheckSubregion(op, dst, rows, cols, src, row, col);
}

/// Where a copy between Vec tiles starts in src.
enum class From : uint8_t { kStart, kBlock, kAnywhere };

/// Elements of 4 bits whose lines change direction, rows x cols of them from row and col of src on:
/// element by element.
template <class Dst, class Src>
inline void TurnPairs(const Dst& dst, size_t rows, size_t cols, const Src& src, size_t row,
                      size_t col) {
  constexpr bool kRowsFirst = Order<Dst>::kLinesAreRows;
  const auto code = [](const auto& tile, bool by_rows, size_t r, size_t c) {
    const size_t line = by_rows ? r : c, at = by_rows ? c : r;
    auto* pair = by_rows ? ElementOf(tile, line, at / 2) : ElementOf(tile, at / 2, line);
    return std::pair(&pair->pair, at % 2 * 4);
  };
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      const auto [to, to_shift] = code(dst, kRowsFirst, r, c);
      const auto [from, shift] = code(src, !kRowsFirst, row + r, col + c);
      const unsigned kept = *to & ~(0xfu << to_shift);
      *to = static_cast<uint8_t>(kept | (*from >> shift & 0xfu) << to_shift);
    }
  }
}

/// Vec to Vec, of elements of 4 bits whose lines change direction.
template <class Dst, class Src>
inline void MoveTurnedPairs(const char* op, const void* call_site, Dst& dst, Src& src, int row,
                            int col, From start) {
  int rows = dst.GetValidRow(), cols = dst.GetValidCol();
  if (start == From::kStart) {
    rows = std::min(rows, src.GetValidRow());
    cols = std::min(cols, src.GetValidCol());
  }
  rows = std::clamp(rows, 0, Dst::Rows);
  cols = std::clamp(cols, 0, Dst::Cols);
  const auto operands = [&](auto report) {
    const auto moved = static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols);
    const auto height = static_cast<size_t>(rows), width = static_cast<size_t>(cols);
    const Region to = StoredRegion<Dst>({0, 0, height, width});
    const Region from =
        StoredRegion<Src>({static_cast<size_t>(row), static_cast<size_t>(col), height, width});
    // A byte of which one element is moved keeps the other.
    const bool keeps = (kLinesAreRows<Dst> ? cols : rows) % 2 != 0;
    report(npu::Work{moved, 0, 0}, RegionAccess(dst, to, true), RegionAccess(src, from, false),
           RegionAccess(dst, keeps ? to : Region{}, false));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    CheckMove(op, dst, src, 0, 0, 0, 0);
    if (row + rows > Src::Rows || col + cols > Src::Cols) {
      RaiseSubregion(op, TileFacts(dst), rows, cols, TileFacts(src), row, col);
    }
    TurnPairs(dst, static_cast<size_t>(rows), static_cast<size_t>(cols), src,
              static_cast<size_t>(row), static_cast<size_t>(col));
  });
}

}  // namespace pto::detail
