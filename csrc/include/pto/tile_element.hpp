// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/issue.hpp"
#include "npu/text.hpp"
#include "pto/types.hpp"

/// Single elements of tiles.
namespace pto::detail {

/// Elements that share a byte. They count as one wherever memory is concerned: lines of a tile have
/// half as many.
template <class T>
inline constexpr int kPacked = 1;
template <>
inline constexpr int kPacked<float4_e2m1x2_t> = 2;
template <>
inline constexpr int kPacked<float4_e1m2x2_t> = 2;

/// Address of the element in row and col; see layout.hpp.
template <class TileT>
typename TileT::DType* ElementOf(const TileT& tile, size_t row, size_t col);

/// Whether the elements of 4 bits that share a byte are neighbours in a row, else in a column.
template <class TileT>
inline constexpr bool kPairsInRows =
    TileT::isBoxedLayout ? TileT::isInnerRowMajor : TileT::isRowMajor;

/// The element in row and col, or the byte that it shares.
template <class TileT>
typename TileT::DType* PlaceOf(const TileT& tile, size_t row, size_t col) {
  constexpr bool kByRows = kPairsInRows<TileT>;
  if constexpr (kPacked<typename TileT::DType> == 1) return ElementOf(tile, row, col);
  return ElementOf(tile, kByRows ? row : row / 2, kByRows ? col / 2 : col);
}

/// The element in row and col; one of 4 bits in the low half.
template <class TileT>
typename TileT::DType ReadElement(const TileT& tile, size_t row, size_t col) {
  using T = typename TileT::DType;
  T element = *PlaceOf(tile, row, col);
  if constexpr (kPacked<T> != 1) {
    const size_t at = kPairsInRows<TileT> ? col : row;
    element.pair = static_cast<uint8_t>(element.pair >> at % 2 * 4 & 0xf);
  }
  return element;
}
template <class TileT>
void WriteElement(const TileT& tile, size_t row, size_t col, const typename TileT::DType& value) {
  if constexpr (kPacked<typename TileT::DType> == 1) {
    *PlaceOf(tile, row, col) = value;
  } else {
    uint8_t& pair = PlaceOf(tile, row, col)->pair;
    const size_t shift = (kPairsInRows<TileT> ? col : row) % 2 * 4;
    pair = static_cast<uint8_t>((pair & ~(0xfu << shift)) | (value.pair & 0xfu) << shift);
  }
}

/// No tile has 2^31 elements: an offset from there on was a negative one.
NPU_ONE_BODY(NPU_RAISES void RaiseElement(const char* op, bool has_address, int count,
                                          uint32_t offset)) {
  if (!has_address) npu::RaiseFault(op, "a tile with an address from TASSIGN", "one without");
  npu::RaiseFault(op, "an element from 0 to " + npu::TextOf(count - 1),
                  npu::TextOf(static_cast<int32_t>(offset)));
}
NPU_ONE_BODY(NPU_RAISES void RaiseElementAt(const char* op, bool has_address, int rows, int cols,
                                            size_t row, size_t col)) {
  if (!has_address) npu::RaiseFault(op, "a tile with an address from TASSIGN", "one without");
  npu::RaiseFault(op,
                  "an element of a tile of " + npu::TextOf(rows) + "x" + npu::TextOf(cols) +
                      " within its on-chip space",
                  "row " + npu::TextOf(static_cast<int64_t>(row)) + ", column " +
                      npu::TextOf(static_cast<int64_t>(col)));
}

/// Bytes from data, an address in space, to the end of that; `most` where there are more, or where
/// the space is that of another thread's core.
NPU_ONE_BODY(uint64_t BytesBehind(const char* op, const void* data, npu::Space space,
                                  uint64_t most)) {
  const npu::Core& core = npu::RunningCore(op);
  const std::byte* base = core.scratchpad[static_cast<int>(space)];
  const uint64_t capacity = core.arch->capacity[static_cast<int>(space)];
  const uint64_t offset = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(base);
  if (base == nullptr || offset >= capacity || capacity - offset > most) return most;
  return capacity - offset;
}

}  // namespace pto::detail
