// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kJoined = {kAny8To32, kAny8To32};

NPU_ONE_BODY(NPU_RAISES void RaiseWidth(const char* operand, int most, size_t got, size_t row)) {
  npu::RaiseFault(
      "TCONCAT",
      npu::Text("widths up to ") + npu::TextOf(most) + " (the columns of " + operand + ")",
      npu::TextOf(got) + " in row " + npu::TextOf(row));
}

/// Faults unless a row of cols columns holds width elements; also with checks off, since nothing
/// else bounds it.
inline void CheckWidth(const char* operand, int cols, size_t width, size_t row) {
  if (__builtin_expect(width > static_cast<size_t>(cols), 0)) RaiseWidth(operand, cols, width, row);
}

template <class Dst, class... Src>
inline void CheckJoined(const npu::Core& core, const Dst& dst, const Src&... src) {
  using T = typename Dst::DType;
  static_assert((std::is_same_v<T, typename Src::DType> && ...),
                "TCONCAT: expected tiles of one element type");
  static_assert(kIsPlainVec<Dst> && (kIsPlainVec<Src> && ...),
                "TCONCAT: expected RowMajor Vec tiles");
  CheckType<T>(core, "TCONCAT", kJoined);
  CheckTile(core, "TCONCAT", "dst", dst);
  const size_t rows = LinesOf(dst).count;
  const auto check = [&](const char* operand, const auto& tile) {
    CheckTile(core, "TCONCAT", operand, tile);
    CheckCovers("TCONCAT", operand, TileFacts(tile), rows, 1);
    if (core.check_limits && tile.GetValidRow() != dst.GetValidRow())
      RaiseWhole("TCONCAT", "valid rows of a source (those of dst)", rows, LinesOf(tile).count);
  };
  const char* names[] = {"src0", "src1"};
  int next = 0;
  (check(names[next++], src), ...);
}

/// A row of dst = the first elements of the rows of both sources, one behind the other.
template <class T>
inline void JoinRow(T* out, const T* in0, size_t width0, const T* in1, size_t width1) {
  std::memmove(static_cast<void*>(out), in0, width0 * sizeof(T));
  std::memmove(static_cast<void*>(out + width0), in1, width1 * sizeof(T));
}

template <class Dst, class Src0, class Src1>
[[gnu::noinline]] void Concat(Dst& dst, Src0& src0, Src1& src1) {
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto rows = static_cast<int>(LinesOf(dst).count);
    const auto cols0 = static_cast<int>(LinesOf(src0).length);
    const auto cols1 = static_cast<int>(LinesOf(src1).length);
    report(ElementsOf(dst), StartAccess(dst, rows, cols0 + cols1, true),
           StartAccess(src0, rows, cols0, false), StartAccess(src1, rows, cols1, false));
  };
  npu::Issue("TCONCAT", npu::Pipe::kV, call_site, operands, [&] {
    CheckJoined(*npu::current_core, dst, src0, src1);
    const auto in0 = LinesOf(src0);
    const auto in1 = LinesOf(src1);
    CheckWidth("dst", Dst::Cols, in0.length + in1.length, 0);
    for (size_t row = 0; row < LinesOf(dst).count; ++row) {
      JoinRow(dst.data() + row * Dst::Cols, src0.data() + row * Src0::Cols, in0.length,
              src1.data() + row * Src1::Cols, in1.length);
    }
  });
}

/// The number of elements that row of idx gives in bytes of its own type.
template <class Idx>
inline size_t WidthOf(const Idx& idx, size_t row) {
  using Index = typename Idx::DType;
  const auto bytes = static_cast<std::make_unsigned_t<Index>>(*ElementOf(idx, row, 0));
  return bytes / sizeof(Index);
}

template <class Dst, class Src0, class Src1, class Idx0, class Idx1, class... DstIdx>
[[gnu::noinline]] void ConcatByWidth(Dst& dst, Src0& src0, Src1& src1, Idx0& idx0, Idx1& idx1,
                                     DstIdx&... dst_idx) {
  using Index = typename Idx0::DType;
  static_assert(std::is_integral_v<Index> && sizeof(Index) <= 4 &&
                    std::is_same_v<Index, typename Idx1::DType> &&
                    (std::is_same_v<Index, typename DstIdx::DType> && ...),
                "TCONCAT: expected widths of one integer type of up to 32 bits");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    constexpr npu::Space kUb = npu::Space::kUb;
    constexpr size_t kBytes = sizeof(typename Dst::DType);
    const auto out = LinesOf(dst);
    const auto rows = static_cast<int>(out.count);
    npu::AccessList written, first, second;
    const bool can_look = npu::IsPlace(idx0.data()) && npu::IsPlace(idx1.data()) &&
                          rows <= Idx0::Rows && rows <= Idx1::Rows;
    for (size_t row = 0; can_look && row < out.count; ++row) {
      const size_t taken0 = std::min(WidthOf(idx0, row), out.length);
      const size_t taken1 = std::min(WidthOf(idx1, row), out.length - taken0);
      written.AddBytes(kUb, true, out(row), (taken0 + taken1) * kBytes);
      first.AddBytes(kUb, false, src0.data() + row * Src0::Cols, taken0 * kBytes);
      second.AddBytes(kUb, false, src1.data() + row * Src1::Cols, taken1 * kBytes);
    }
    report(ElementsOf(dst), written, StartAccess(dst_idx, rows, 1, true)..., first, second,
           StartAccess(idx0, rows, 1, false), StartAccess(idx1, rows, 1, false));
  };
  npu::Issue("TCONCAT", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckJoined(core, dst, src0, src1);
    const auto out = LinesOf(dst);
    const auto check = [&](const char* operand, const auto& tile) {
      CheckTile(core, "TCONCAT", operand, tile);
      CheckCovers("TCONCAT", operand, TileFacts(tile), out.count, 1);
    };
    check("src0Idx", idx0);
    check("src1Idx", idx1);
    (check("dstIdx", dst_idx), ...);
    for (size_t row = 0; row < out.count; ++row) {
      const size_t width0 = WidthOf(idx0, row), width1 = WidthOf(idx1, row);
      const size_t taken0 = std::min(width0, out.length);
      const size_t taken1 = std::min(width1, out.length - taken0);
      CheckWidth("src0", Src0::Cols, taken0, row);
      CheckWidth("src1", Src1::Cols, taken1, row);
      ((*ElementOf(dst_idx, row, 0) = static_cast<Index>((taken0 + taken1) * sizeof(Index))), ...);
      JoinRow(out(row), src0.data() + row * Src0::Cols, taken0, src1.data() + row * Src1::Cols,
              taken1);
    }
  });
}

}  // namespace detail

/// Row i of dst = the valid columns of row i of src0, then those of src1.
///   dst, src0, src1  Vec RowMajor tiles of one dtype of 8, 16 or 32 bits and as many valid rows;
///                    dst has room for the columns of both
/// Pipe V. Source: PTO ISA, TCONCAT.
template <class Dst, class Src0, class Src1, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TCONCAT(Dst& dst, Src0& src0, Src1& src1,
                                                  Events&... events) {
  (events.Wait(), ...);
  detail::Concat(dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// The same with a width for each row: src0Idx[i, 0] bytes' worth of indexes from src0, then
/// src1Idx[i, 0] from src1, up to the valid columns of dst.
///   src0Idx, src1Idx  Vec tiles of one integer type of up to 32 bits: elements times its bytes
template <class Dst, class Src0, class Src1, class Idx0, class Idx1, class... Events,
          std::enable_if_t<is_tile_data_v<Idx0> && is_tile_data_v<Idx1> && all_events_v<Events...>,
                           int> = 0>
[[gnu::always_inline]] inline RecordEvent TCONCAT(Dst& dst, Src0& src0, Src1& src1, Idx0& src0Idx,
                                                  Idx1& src1Idx, Events&... events) {
  (events.Wait(), ...);
  detail::ConcatByWidth(dst, src0, src1, src0Idx, src1Idx);
  npu::KeepCallSite();
  return {};
}

/// The same, and dstIdx[i, 0] = the elements of row i of dst times the bytes of its type.
template <class Dst, class Src0, class Src1, class DstIdx, class Idx0, class Idx1, class... Events,
          std::enable_if_t<is_tile_data_v<Idx1> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TCONCAT(Dst& dst, Src0& src0, Src1& src1, DstIdx& dstIdx,
                                                  Idx0& src0Idx, Idx1& src1Idx, Events&... events) {
  (events.Wait(), ...);
  detail::ConcatByWidth(dst, src0, src1, src0Idx, src1Idx, dstIdx);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
