// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "npu/transpose.hpp"
#include "pto/check.hpp"
#include "pto/layout.hpp"

/// Copies between on-chip tiles of any two layouts.
namespace pto::detail {

/// A rectangle of a tile.
struct Region {
  size_t row, col;
  size_t rows, cols;
};

/// The part of tile within region as what is touched, for observers.
template <class TileT>
inline npu::AccessList RegionAccess(const TileT& tile, const Region& region, bool is_write) {
  const LinePart part = Order<TileT>::kLinesAreRows
                            ? LinePart{region.row, region.col, region.rows, region.cols}
                            : LinePart{region.col, region.row, region.cols, region.rows};
  return AccessOf(TileFacts(tile), part, is_write);
}

/// Rows and columns that are given as numbers, from the start of tile on.
template <class TileT>
inline npu::AccessList StartAccess(const TileT& tile, int rows, int cols, bool is_write) {
  const Region region = {0, 0, static_cast<size_t>(std::max(rows, 0)),
                         static_cast<size_t>(std::max(cols, 0))};
  return RegionAccess(tile, region, is_write);
}

/// Elements from index at of a line to the end of its run.
template <class TileT>
inline size_t RestOfRun(size_t at) {
  return Order<TileT>::kRun - at % Order<TileT>::kRun;
}

// Elements of 16 or 32 bits whose lines change direction move in squares of this many.
inline constexpr size_t kSquare = 8;

/// Lines at even distances, neighbours first, in groups of this many.
template <class TileT>
inline constexpr size_t kEvenLines =
    TileT::isBoxedLayout ? Order<TileT>::kBoxLines : Order<TileT>::kLines;

template <class TileT>
inline constexpr bool kHasSquares =
    (sizeof(typename TileT::DType) == 2 || sizeof(typename TileT::DType) == 4) &&
    Order<TileT>::kRun % kSquare == 0 && kEvenLines<TileT> % kSquare == 0;

/// Calls copy(dst run, src run, distance of neighbours in the src run, elements) for pieces that
/// cover region of dst; element (0, 0) of region lies at row, col in src.
template <class Dst, class Src, class Copy>
inline void ForEachPiece(const Dst& dst, const Region& region, const Src& src, size_t row,
                         size_t col, const Copy& copy) {
  using D = Order<Dst>;
  using S = Order<Src>;
  const D to_order(dst);
  const S from_order(src);
  const bool rows_first = D::kLinesAreRows;
  const size_t lines = rows_first ? region.rows : region.cols;
  const size_t length = rows_first ? region.cols : region.rows;
  const size_t dst_line = rows_first ? region.row : region.col;
  const size_t dst_at = rows_first ? region.col : region.row;
  const size_t src_line = rows_first ? row : col;
  const size_t src_at = rows_first ? col : row;
  for (size_t line = 0; line < lines; ++line) {
    for (size_t at = 0; at < length;) {
      auto* to = dst.data() + to_order.Offset(dst_line + line, dst_at + at);
      size_t count = std::min(length - at, RestOfRun<Dst>(dst_at + at));
      if constexpr (D::kLinesAreRows == S::kLinesAreRows) {
        count = std::min(count, RestOfRun<Src>(src_at + at));
        copy(to, src.data() + from_order.Offset(src_line + line, src_at + at), size_t{1}, count);
      } else {
        // Neighbours of the dst run lie in neighbouring lines of src: evenly spaced within a box.
        constexpr size_t kBoxLines = kEvenLines<Src>;
        const size_t line_of_src = src_at + at;
        count = std::min(count, kBoxLines - line_of_src % kBoxLines);
        const size_t step = S::kLines > 1 ? from_order.Offset(1, 0) : 1;
        copy(to, src.data() + from_order.Offset(line_of_src, src_line + line), step, count);
      }
      at += count;
    }
  }
}

/// The same as CopyRegion where lines of dst are columns of src or the other way round; region, row
/// and col are multiples of squares.
template <class Dst, class Src>
inline void CopySquares(const Dst& dst, const Region& region, const Src& src, size_t row,
                        size_t col) {
  using D = Order<Dst>;
  const D to_order(dst);
  const Order<Src> from_order(src);
  const size_t to_pitch = to_order.Offset(1, 0), from_pitch = from_order.Offset(1, 0);
  for (size_t r = 0; r < region.rows; r += kSquare) {
    for (size_t c = 0; c < region.cols; c += kSquare) {
      auto* to = ElementOf(dst, region.row + r, region.col + c);
      const auto* from = ElementOf(src, row + r, col + c);
      npu::simd::TransposeSquare(to, to_pitch, from, from_pitch);
    }
  }
}

/// region of dst = the elements of src at row, col and on; the bytes as they are.
template <class Dst, class Src>
inline void CopyRegion(const Dst& dst, const Region& region, const Src& src, size_t row,
                       size_t col) {
  using T = typename Dst::DType;
  static_assert(sizeof(T) == sizeof(typename Src::DType), "expected elements of one size");
  if constexpr (Order<Dst>::kLinesAreRows != Order<Src>::kLinesAreRows && kHasSquares<Dst> &&
                kHasSquares<Src>) {
    const size_t all = region.row | region.col | region.rows | region.cols | row | col;
    if (all % kSquare == 0) return CopySquares(dst, region, src, row, col);
  }
  constexpr size_t kWhole = std::min(Order<Dst>::kRun, Order<Src>::kRun);
  ForEachPiece(dst, region, src, row, col, [](T* to, const auto* from, size_t step, size_t count) {
    if (step != 1) {
      for (size_t i = 0; i < count; ++i) {
        std::memcpy(static_cast<void*>(to + i), from + i * step, sizeof(T));
      }
    } else if (count == kWhole && kWhole * sizeof(T) <= 64) {
      std::memcpy(static_cast<void*>(to), from, kWhole * sizeof(T));
    } else {
      std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
    }
  });
}

NPU_ONE_BODY(NPU_RAISES void RaiseSubregion(const char* op, const TileFacts& inner, int64_t rows,
                                            int64_t cols, const TileFacts& outer, int64_t row,
                                            int64_t col)) {
  npu::RaiseFault(op,
                  TileFacts::Extent(rows, cols) + " elements of the " + inner.Describe() +
                      " within the " + outer.Describe(),
                  "row " + npu::TextOf(row) + ", column " + npu::TextOf(col));
}

/// Faults unless rows x cols elements at row, col lie within outer. Holds with checks off too: a
/// copy must not leave its tile.
template <class Inner, class Outer>
inline void CheckSubregion(const char* op, const Inner& inner, int rows, int cols,
                           const Outer& outer, int row, int col) {
  constexpr const TileKind& kOuter = kTileKind<Outer>;
  const bool inside = row + rows <= kOuter.rows && col + cols <= kOuter.cols;
  if (__builtin_expect(!inside, 0)) {
    RaiseSubregion(op, TileFacts(inner), rows, cols, TileFacts(outer), row, col);
  }
  if constexpr (Outer::Loc == TileType::Acc) {
    if (rows <= 0 || cols <= 0) return;
    CheckEnds(*npu::current_core, op, "src", TileFacts(outer), static_cast<size_t>(row + rows),
              static_cast<size_t>(col + cols));
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseMultiple(const char* op, const char* what, int unit, int got)) {
  npu::RaiseFault(op, npu::Text(what) + " of a multiple of " + npu::TextOf(unit), npu::TextOf(got));
}

/// Faults unless row and col are multiples of the unit in which the chip addresses a tile.
inline void CheckOrigin(const npu::Core& core, const char* op, int row, int row_unit, int col,
                        int col_unit) {
  if (!core.check_limits) return;
  if (__builtin_expect(row % row_unit != 0, 0)) RaiseMultiple(op, "a row", row_unit, row);
  if (__builtin_expect(col % col_unit != 0, 0)) RaiseMultiple(op, "a column", col_unit, col);
}

}  // namespace pto::detail
