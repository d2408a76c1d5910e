// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// Elements first, first + step, ...
struct Every {
  size_t first;
  size_t step;

  constexpr size_t CountUpTo(size_t end) const {
    return end > first ? (end - first - 1) / step + 1 : 0;
  }
};

constexpr Every EveryOf(MaskPattern pattern) {
  const auto number = static_cast<size_t>(pattern);
  if (pattern >= MaskPattern::P1111) return {0, 1};
  return number < 3 ? Every{number - 1, 2} : Every{number - 3, 4};
}

/// A number that kernels write with and without brackets.
struct Times {
  int value;
  constexpr operator int() const { return value; }  // NOLINT(google-explicit-constructor)
  constexpr int operator()() const { return value; }
};

/// A tile in UB whose rows are contiguous.
template <class TileT>
inline constexpr bool kIsPlainVec =
    TileT::Loc == TileType::Vec && TileT::isRowMajor && !TileT::isBoxedLayout;

/// All of a tile's memory, for instructions that touch it in places that data tells.
NPU_ONE_BODY(npu::AccessList AccessOfWhole(const TileFacts& tile, bool is_write)) {
  npu::AccessList list;
  list.AddBytes(SpaceOf(tile.kind->loc), is_write, tile.data, tile.Bytes());
  return list;
}

NPU_ONE_BODY(NPU_RAISES void RaiseCovers(const char* op, const char* operand, const TileFacts& tile,
                                         size_t rows, size_t cols)) {
  npu::RaiseFault(op,
                  npu::Text(operand) + " of at least " +
                      TileFacts::Extent(static_cast<int64_t>(rows), static_cast<int64_t>(cols)),
                  TileFacts::Extent(tile.kind->rows, tile.kind->cols));
}

/// Faults unless tile has memory for rows x cols elements; also with checks off, since nothing else
/// bounds it.
inline void CheckCovers(const char* op, const char* operand, const TileFacts& tile, size_t rows,
                        size_t cols) {
  const bool covers =
      rows <= static_cast<size_t>(tile.kind->rows) && cols <= static_cast<size_t>(tile.kind->cols);
  if (__builtin_expect(!covers, 0)) RaiseCovers(op, operand, tile, rows, cols);
}

NPU_ONE_BODY(NPU_RAISES void RaiseWhole(const char* op, const char* what, size_t expected,
                                        size_t got)) {
  npu::RaiseFault(op, npu::TextOf(expected) + " " + what, npu::TextOf(got));
}

/// Faults unless got is the expected number of what.
inline void CheckWhole(const npu::Core& core, const char* op, const char* what, size_t expected,
                       size_t got) {
  if (__builtin_expect(core.check_limits && expected != got, 0))
    RaiseWhole(op, what, expected, got);
}

NPU_ONE_BODY(NPU_RAISES void RaiseIndex(const char* op, const char* operand, size_t elements,
                                        int64_t got, size_t row, size_t col)) {
  npu::RaiseFault(
      op, "indexes from 0 to " + npu::TextOf(elements - 1) + " (the elements of " + operand + ")",
      npu::TextOf(got) + " in row " + npu::TextOf(row) + ", column " + npu::TextOf(col));
}

/// index, which names one of elements of operand; a fault otherwise, also with checks off, since
/// nothing else bounds it.
template <class Index>
inline size_t CheckedIndex(const char* op, const char* operand, size_t elements, Index index,
                           size_t row, size_t col) {
  const auto at = static_cast<std::make_unsigned_t<Index>>(index);
  if (__builtin_expect(at >= elements || index < 0, 0))
    RaiseIndex(op, operand, elements, static_cast<int64_t>(index), row, col);
  return at;
}

/// Faults unless the block of 32 bytes that begins offset bytes behind from, a place in UB, is a
/// whole block of UB; also with checks off.
NPU_ONE_BODY(void CheckBlock(const npu::Core& core, const char* op, const std::byte* from,
                             uint32_t offset)) {
  constexpr auto kUb = static_cast<int>(npu::Space::kUb);
  const size_t start = static_cast<size_t>(from - core.scratchpad[kUb]) + offset;
  if (start % npu::kTileAlignment == 0 && start < core.arch->capacity[kUb]) return;
  npu::RaiseFault(op, "offsets of blocks of 32 bytes within UB, multiples of 32",
                  npu::TextOf(offset));
}

}  // namespace detail

/// Of how many elements kPattern takes one.
template <MaskPattern kPattern>
inline constexpr detail::Times GetTimesByMask = {static_cast<int>(detail::EveryOf(kPattern).step)};

}  // namespace pto
