// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kGathered = {kAny16And32, kAny8To32 | kInt64 | kUint64};
inline constexpr TypeRule kGatheredByMask = {kGathered.a3, kGathered.a5 | kE4m3 | kE5m2 | kHif8};
inline constexpr TypeRule kGatherIndexes = {kInt32 | kUint32, kInt16 | kUint16 | kInt32 | kUint32};

/// Which elements of src the indexes of rows x cols elements name, for observers.
template <class Src, class Idx>
inline npu::AccessList ReadsNamed(const Src& src, const Idx& idx, size_t rows, size_t cols) {
  constexpr size_t kBytes = sizeof(typename Src::DType);
  npu::AccessList list;
  if (!npu::IsPlace(idx.data()) || rows > Idx::Rows || cols > Idx::Cols) return list;
  const auto is_named = std::make_unique<bool[]>(Src::Numel);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) {
      const auto at = static_cast<size_t>(idx.data()[row * Idx::Cols + col]);
      if (at < Src::Numel) is_named[at] = true;
    }
  }
  for (size_t i = 0; i < Src::Numel; ++i) {
    if (is_named[i]) list.AddBytes(npu::Space::kUb, false, src.data() + i, kBytes);
  }
  return list;
}

template <class Dst, class Src, class Idx>
[[gnu::noinline]] void GatherByIndex(Dst& dst, Src& src, Idx& idx) {
  using T = typename Dst::DType;
  constexpr const char* kOp = "TGATHER";
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TGATHER: expected dst and src0 of one element type");
  static_assert(std::is_integral_v<typename Idx::DType>, "TGATHER: expected integers as indexes");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src> && kIsPlainVec<Idx>,
                "TGATHER: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto [rows, cols] = ValidExtent(dst);
    report(ElementsOf(dst), Writes(dst), ReadsNamed(src, idx, rows, cols),
           RegionAccess(idx, {0, 0, rows, cols}, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, kOp, kGathered);
    CheckOperandType<typename Idx::DType>(core, kOp, "indexes", kGatherIndexes);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src0", src);
    CheckTile(core, kOp, "src1", idx);
    const auto to = LinesOf(dst);
    CheckCovers(kOp, "src1", TileFacts(idx), to.count, to.length);
    for (size_t row = 0; row < to.count; ++row) {
      T* out = to(row);
      const auto* index = idx.data() + row * Idx::Cols;
      for (size_t col = 0; col < to.length; ++col)
        out[col] = src.data()[CheckedIndex(kOp, "src0", Src::Numel, index[col], row, col)];
    }
  });
}

NPU_ONE_BODY(void CheckPacked(const npu::Core& core, size_t count, const TileFacts& dst,
                              bool may_end_early)) {
  const auto room = static_cast<size_t>(dst.kind->rows) * static_cast<size_t>(dst.kind->cols);
  if (count > room) {
    npu::RaiseFault("TGATHER", "a dst of at least " + npu::TextOf(count) + " elements",
                    TileFacts::Extent(dst.kind->rows, dst.kind->cols));
  }
  if (!core.check_limits || may_end_early || dst.valid_rows <= 1) return;
  if (dst.valid_cols == dst.kind->cols) return;
  npu::RaiseFault("TGATHER",
                  "a dst whose rows are valid to the end (elements are packed), " +
                      npu::TextOf(dst.kind->cols) + " columns",
                  npu::TextOf(dst.valid_cols));
}

/// How many elements every takes of a row of length, and how far apart dst has those of rows.
struct PackedRow {
  size_t count, pitch;
};
template <class Dst, class Src>
inline PackedRow PackedRowOf(size_t length, Every every) {
  constexpr bool kWide = sizeof(typename Src::DType) == 8;
  const size_t count = kWide ? length / every.step : every.CountUpTo(length);
  return {count, kWide ? Dst::Cols / every.step : count};
}

/// What GatherInRows and GatherRows touch, for observers.
template <class Dst, class Src>
inline npu::AccessList PackedRows(const Dst& dst, const Src& src, Every every, bool rows,
                                  bool is_write) {
  constexpr npu::Space kUb = npu::Space::kUb;
  constexpr size_t kBytes = sizeof(typename Src::DType);
  npu::AccessList list;
  const auto from = LinesOf(src);
  const PackedRow packed = PackedRowOf<Dst, Src>(from.length, every);
  for (size_t row = 0; !rows && row < from.count; ++row) {
    if (is_write) {
      list.AddBytes(kUb, true, dst.data() + row * packed.pitch, packed.count * kBytes);
    } else {
      list.AddRows(
          {kUb, false, from(row) + every.first, packed.count, kBytes, every.step * kBytes});
    }
  }
  const size_t count = LinesOf(dst).count;
  for (size_t row = 0; rows && row < count; ++row) {
    const size_t line = row * every.step + every.first;
    if (line >= from.count) break;
    list.AddBytes(kUb, is_write,
                  is_write ? static_cast<const void*>(dst.data() + row * Dst::Cols) : from(line),
                  from.length * kBytes);
  }
  return list;
}

/// dst, packed = the elements of each row of src that pattern takes. Those of 64 bits begin a row
/// for each, of as many columns as dst has room for when it is divided by the step.
template <class Dst, class Src>
void GatherInRows(const npu::Core& core, const Dst& dst, const Src& src, Every every) {
  constexpr bool kWide = sizeof(typename Src::DType) == 8;
  const auto from = LinesOf(src);
  if (from.count == 0) return;
  const auto [in_row, pitch] = PackedRowOf<Dst, Src>(from.length, every);
  CheckPacked(core, (from.count - 1) * pitch + in_row, TileFacts(dst), kWide);
  for (size_t row = 0; row < from.count; ++row) {
    const auto* in = from(row);
    auto* out = dst.data() + row * pitch;
    for (size_t i = 0; i < in_row; ++i) {
      std::memcpy(static_cast<void*>(out + i), in + every.first + i * every.step, sizeof(*in));
    }
  }
}

/// Rows of dst = the rows of src that pattern takes.
template <class Dst, class Src>
void GatherRows(const npu::Core& core, const Dst& dst, const Src& src, Every every) {
  const auto from = LinesOf(src);
  const auto to = LinesOf(dst);
  CheckWhole(core, "TGATHER", "valid rows of src", every.step * to.count, from.count);
  CheckCovers("TGATHER", "dst", TileFacts(dst), to.count, from.length);
  for (size_t row = 0; row < to.count && row * every.step + every.first < from.count; ++row) {
    const auto* in = from(row * every.step + every.first);
    std::memcpy(static_cast<void*>(to(row)), in, from.length * sizeof(*in));
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void GatherByMask(Dst& dst, Src& src, MaskPattern pattern, bool rows) {
  static_assert(sizeof(typename Dst::DType) == sizeof(typename Src::DType),
                "TGATHER: expected dst and src of one element size");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src>, "TGATHER: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const Every every = EveryOf(pattern);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(src), PackedRows(dst, src, every, rows, true),
           PackedRows(dst, src, every, rows, false));
  };
  npu::Issue("TGATHER", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<typename Src::DType>(core, "TGATHER", kGatheredByMask);
    CheckTile(core, "TGATHER", "dst", dst);
    CheckTile(core, "TGATHER", "src", src);
    rows ? GatherRows(core, dst, src, every) : GatherInRows(core, dst, src, every);
  });
}

template <class Dst, class Src, class Offsets>
[[gnu::noinline]] void GatherBlocks(Dst& dst, Src& src, Offsets& offsets) {
  constexpr const char* kOp = "TGATHERB";
  constexpr size_t kBlock = npu::kTileAlignment, kElements = kBlock / sizeof(typename Dst::DType);
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Offsets>, "TGATHERB: expected RowMajor Vec tiles");
  static_assert(std::is_same_v<typename Offsets::DType, uint32_t>,
                "TGATHERB: expected offsets of uint32");
  static_assert(sizeof(typename Dst::DType) <= 4, "TGATHERB: expected elements of up to 32 bits");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto [rows, cols] = ValidExtent(dst);
    const size_t blocks = (cols + kElements - 1) / kElements;
    npu::AccessList read;
    if (npu::IsPlace(offsets.data()) && rows <= Offsets::Rows && blocks <= Offsets::Cols) {
      for (size_t i = 0; i < rows * blocks; ++i) {
        const size_t at = i / blocks * Offsets::Cols + i % blocks;
        read.AddBytes(npu::Space::kUb, false,
                      reinterpret_cast<const std::byte*>(src.data()) + offsets.data()[at], kBlock);
      }
    }
    report(ElementsOf(dst), RegionAccess(dst, {0, 0, rows, blocks * kElements}, true), read,
           RegionAccess(offsets, {0, 0, rows, blocks}, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src", src);
    CheckTile(core, kOp, "offset", offsets);
    const auto to = LinesOf(dst);
    const size_t blocks = (to.length + kElements - 1) / kElements;
    CheckCovers(kOp, "offset", TileFacts(offsets), to.count, blocks);
    const auto* from = reinterpret_cast<const std::byte*>(src.data());
    for (size_t row = 0; row < to.count; ++row) {
      for (size_t block = 0; block < blocks; ++block) {
        const uint32_t offset = offsets.data()[row * Offsets::Cols + block];
        CheckBlock(core, kOp, from, offset);
        std::memmove(static_cast<void*>(to(row, block * kElements)), from + offset, kBlock);
      }
    }
  });
}

}  // namespace detail

/// dst[i, j] = the element of src0 at src1[i, j], counted in memory order, over the valid region of
/// dst.
///   dst, src0  Vec RowMajor tiles of one dtype of 16 or 32 bits (A5 also 8 and 64)
///   src1       Vec RowMajor tile of int32 or uint32 (A5 also 16 bits) with an index for each
///              element; one outside of src0 is a fault
///   tmp        scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TGATHER.
template <class Dst, class Src0, class Src1, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGATHER(Dst& dst, Src0& src0, Src1& src1, Tmp&,
                                                  Events&... events) {
  (events.Wait(), ...);
  detail::GatherByIndex(dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst = the elements of each row of the valid region of src that kPattern takes, packed one behind
/// the other without regard to the rows of dst; with GATHER_COL the rows that it takes.
/// Elements of 64 bits begin a row for each of src, of the columns of dst divided by 2 or 4.
///   dst, src  Vec RowMajor tiles of one element size of 16 or 32 bits (A5 also 8 and 64, 8-bit
///             floats too). The rows
///             of dst are valid to the end; with GATHER_COL src has 2 or 4 times its rows
/// Pipe V. Source: PTO ISA, TGATHER.
template <class Dst, class Src, MaskPattern kPattern = MaskPattern::P1111,
          auto kAxis = GatherAxis::GATHER_ROW, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGATHER(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::GatherByMask(dst, src, kPattern, kAxis == GatherAxis::GATHER_COL);
  npu::KeepCallSite();
  return {};
}

/// The blocks of 32 bytes of row i of dst = those of src that begin offset[i, 0], offset[i, 1], ...
/// bytes behind its start, up to whole blocks.
///   dst, src  Vec tiles, dst RowMajor; elements of 8, 16 or 32 bits
///   offset    Vec RowMajor tile of uint32, multiples of 32 that name bytes of UB
/// Pipe V. Source: PTO ISA, TGATHERB.
template <class Dst, class Src, class Offset, class... Events>
[[gnu::always_inline]] inline RecordEvent TGATHERB(Dst& dst, Src& src, Offset& offset,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::GatherBlocks(dst, src, offset);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
