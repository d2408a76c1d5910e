// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "npu/issue.hpp"
#include "pto/global_range.hpp"
#include "pto/pieces.hpp"

/// The short way of transfers: whole rows between an un-boxed Vec tile and global memory, where no
/// rule is broken. What is not surely so goes the way of transfer.hpp, which says what is wrong.
namespace pto::detail {

/// Rows in a tile and in global memory; pitches in bytes.
struct StraightRows {
  std::byte* tile = nullptr;  // null: the long way
  char* global = nullptr;
  size_t tile_pitch = 0, global_pitch = 0;
  size_t rows = 0, bytes = 0;
};

template <class TileT, class Global>
inline constexpr bool kMayBeStraight =
    TileT::Loc == TileType::Vec && !TileT::isBoxedLayout && TileT::isRowMajor &&
    TileT::Rows <= 4095 && Global::layout == Layout::ND && kPacked<typename TileT::DType> == 1;

/// The rows that a transfer between tile and global moves, if they are plain ones.
template <class TileT, class Global>
inline StraightRows PlainRows(const TileT& tile, const Global& global) {
  constexpr int64_t kBytes = sizeof(typename TileT::DType);
  const npu::Core* core = npu::current_core;
  const int64_t rows = tile.GetValidRow(), cols = tile.GetValidCol(), pitch = global.GetStride(3);
  const bool is_plain =
      core != nullptr && npu::IsPlace(tile.data()) && rows > 0 && rows <= TileT::Rows && cols > 0 &&
      cols <= TileT::Cols && global.GetShape(3) == rows && global.GetShape(4) == cols &&
      global.GetShape(2) == 1 && global.GetShape(1) == 1 && global.GetShape(0) == 1 &&
      global.GetStride(4) == 1 && pitch >= 0 && pitch <= UINT32_MAX &&
      (core->observer == nullptr || pitch >= cols || rows == 1);  // those of an Access lie apart
  if (__builtin_expect(!is_plain, 0)) return {};
  return {reinterpret_cast<std::byte*>(tile.data()),
          reinterpret_cast<char*>(const_cast<typename Global::RawDType*>(global.data())),
          static_cast<size_t>(TileT::Cols * kBytes),
          static_cast<size_t>(pitch * kBytes),
          static_cast<size_t>(rows),
          static_cast<size_t>(cols * kBytes)};
}

/// Looks for the memory that holds the bytes from begin up to end; false where the long way has
/// something to say about it. Observers hear of a transfer before that of its memory.
NPU_ONE_BODY(__attribute__((cold)) bool BringToHand(npu::Core& core, const char* op,
                                                    const char* begin, const char* end)) {
  if (core.observer != nullptr) return false;
  const npu::NextInstruction next(op);
  const npu::GlobalMemory memory = core.scheduler->FindGlobalMemory(op, begin);
  if (!memory.is_known || !Holds(memory, begin, end)) return false;
  KeepAtHand(core, memory);
  return true;
}

/// Whether rows lie in global memory that the launch knows; else the long way says what is wrong.
inline bool IsInMemory(const char* op, const StraightRows& rows) {
  npu::Core& core = *npu::current_core;
  if (!core.check_limits) return true;
  const char* end = rows.global + (rows.rows - 1) * rows.global_pitch + rows.bytes;
  for (const npu::GlobalMemory& memory : core.memories) {
    if (memory.is_known && Holds(memory, rows.global, end)) return true;
  }
  return BringToHand(core, op, rows.global, end);
}

/// What they touch of the tile, padding bytes behind each row among it, for observers.
inline npu::Access TileAccess(const StraightRows& rows, bool is_write, size_t padding = 0) {
  return {npu::Space::kUb, is_write, rows.tile, rows.rows, rows.bytes + padding, rows.tile_pitch};
}

/// The same of global memory.
inline npu::Access GlobalAccess(const StraightRows& rows, bool is_write) {
  const size_t pitch = rows.rows == 1 ? rows.bytes : rows.global_pitch;
  return {npu::Space::kGm, is_write, rows.global, rows.rows, rows.bytes, pitch};
}

inline npu::Work WorkOf(const StraightRows& rows, size_t element_bytes) {
  const uint64_t bytes = rows.rows * rows.bytes;
  return {bytes / element_bytes, bytes, 0};
}

/// The rows of tile and global, where they lie alike and nobody looks on: one may stand for the
/// other.
template <class TileT, class Global>
inline StraightRows FindAlike(const char* op, const TileT& tile, const Global& global) {
  if (npu::IsObserved()) return {};
  const StraightRows rows = PlainRows(tile, global);
  if (rows.tile == nullptr || !IsInMemory(op, rows)) return {};
  return rows.rows == 1 || rows.global_pitch == rows.tile_pitch ? rows : StraightRows();
}

/// Copies the bytes of a whole tile. memcpy takes 1.1 times as long: from 4 KiB on it repeats a
/// string instruction, which is slow to start.
inline void CopyLong(char* to, const char* from, size_t bytes) {
  using Vector = long long __attribute__((vector_size(32), aligned(1), may_alias));
  constexpr size_t kStep = 4 * sizeof(Vector);
  for (; bytes >= kStep; bytes -= kStep, to += kStep, from += kStep) {
    const auto* source = reinterpret_cast<const Vector*>(from);
    const Vector a = source[0], b = source[1], c = source[2], d = source[3];
    auto* target = reinterpret_cast<Vector*>(to);
    target[0] = a;
    target[1] = b;
    target[2] = c;
    target[3] = d;
    asm volatile("");  // or the loop would become a memcpy
  }
  std::memcpy(to, from, bytes);
}

/// Copies rows of bytes, which lie pitches apart.
NPU_ONE_BODY(void CopyRows(char* to, size_t to_pitch, const char* from, size_t from_pitch,
                           size_t rows, size_t bytes)) {
  if (rows == 1 || (to_pitch == bytes && from_pitch == bytes)) {
    return CopyLong(to, from, rows * bytes);
  }
  for (size_t row = 0; row < rows; ++row) {
    if (row + kLinesAhead < rows) Prefetch(from + kLinesAhead * from_pitch, bytes);
    std::memcpy(to, from, bytes);
    to += to_pitch;
    from += from_pitch;
  }
}

}  // namespace pto::detail
