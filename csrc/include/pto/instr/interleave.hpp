// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/index.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kInterleaved = {0, kAny8To32};

/// Faults unless tiles, dst1 first, are what op takes on this chip: columns and rows of each.
template <class... Tiles>
inline void CheckInterleaved(const npu::Core& core, const char* op, const Tiles&... tiles) {
  static_assert((kIsPlainVec<Tiles> && ...), "expected RowMajor Vec tiles");
  CheckIsA5(core, op);
  constexpr const char* kOne[] = {"dst1", "dst0", "src"};
  constexpr const char* kTwo[] = {"dst1", "dst0", "src1", "src0"};
  size_t next = 0;
  const auto check = [&](const auto& tile) {
    using T = typename std::decay_t<decltype(tile)>::DType;
    CheckType<T>(core, op, kInterleaved);
    CheckTile(core, op, sizeof...(Tiles) == 3 ? kOne[next] : kTwo[next], tile);
    ++next;
  };
  (check(tiles), ...);
}

/// The lines of dst0; a fault unless all four tiles have its valid shape.
template <class Dst, class Src>
inline auto CheckFour(const char* op, const Dst& dst1, const Dst& dst0, const Src& src1,
                      const Src& src0) {
  const npu::Core& core = *npu::current_core;
  CheckInterleaved(core, op, dst1, dst0, src1, src0);
  CheckSameValidShape(core, op, "dst1", dst0, dst1);
  CheckSameValidShape(core, op, "src1", dst0, src1);
  CheckSameValidShape(core, op, "src0", dst0, src0);
  const auto lines = LinesOf(dst0);
  CheckCovers(op, "src0", TileFacts(src0), lines.count, lines.length);
  return lines;
}

template <class Dst, class Src>
[[gnu::noinline]] void Interleave(Dst& dst1, Dst& dst0, Src& src1, Src& src0) {
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType>,
                "TINTERLEAVE: expected tiles of one element type");
  constexpr const char* kOp = "TINTERLEAVE";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst0), Writes(dst1), Writes(dst0), Reads(src1), Reads(src0));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const auto to = CheckFour(kOp, dst1, dst0, src1, src0);
    for (size_t row = 0; row < to.count; ++row) {
      const auto* even = src0.data() + row * Src::Cols;
      const auto* odd = src1.data() + row * Src::Cols;
      for (size_t col = 0; col < to.length; ++col) {
        const auto* from = col % 2 == 0 ? even : odd;
        dst0.data()[row * Dst::Cols + col] = from[col / 2];
        dst1.data()[row * Dst::Cols + col] = from[to.length / 2 + col / 2];
      }
    }
  });
}

template <class Dst, class Src>
inline void Deinterleave(Dst& dst1, Dst& dst0, const Src& src, size_t rows, size_t pairs,
                         size_t at) {
  for (size_t row = 0; row < rows; ++row) {
    const auto* in = src.data() + row * Src::Cols;
    for (size_t i = 0; i < pairs; ++i) {
      dst0.data()[row * Dst::Cols + at + i] = in[2 * i];
      dst1.data()[row * Dst::Cols + at + i] = in[2 * i + 1];
    }
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void DeinterleaveTwo(Dst& dst1, Dst& dst0, Src& src1, Src& src0) {
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType>,
                "TDEINTERLEAVE: expected tiles of one element type");
  constexpr const char* kOp = "TDEINTERLEAVE";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto to = LinesOf(dst0);
    const int rows = static_cast<int>(to.count), cols = static_cast<int>(to.length / 2 * 2);
    report(ElementsOf(dst0), StartAccess(dst1, rows, cols, true),
           StartAccess(dst0, rows, cols, true), StartAccess(src1, rows, cols, false),
           StartAccess(src0, rows, cols, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const auto to = CheckFour(kOp, dst1, dst0, src1, src0);
    Deinterleave(dst1, dst0, src0, to.count, to.length / 2, 0);
    Deinterleave(dst1, dst0, src1, to.count, to.length / 2, to.length / 2);
  });
}

template <class Dst, class Src>
[[gnu::noinline]] void DeinterleaveOne(Dst& dst1, Dst& dst0, Src& src) {
  static_assert(std::is_same_v<typename Dst::DType, typename Src::DType>,
                "TDEINTERLEAVE: expected tiles of one element type");
  constexpr const char* kOp = "TDEINTERLEAVE";
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto from = LinesOf(src);
    const int rows = static_cast<int>(from.count), pairs = static_cast<int>(from.length / 2);
    report(ElementsOf(src), StartAccess(dst1, rows, pairs, true),
           StartAccess(dst0, rows, pairs, true), StartAccess(src, rows, 2 * pairs, false));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckInterleaved(core, kOp, dst1, dst0, src);
    const auto from = LinesOf(src);
    const size_t pairs = from.length / 2;
    const auto to = LinesOf(dst0);
    CheckSameValidShape(core, kOp, "dst1", dst0, dst1);
    CheckWhole(core, kOp, "valid columns of dst0 (half of those of src)", pairs, to.length);
    CheckWhole(core, kOp, "valid rows of dst0 (those of src)", from.count, to.count);
    CheckCovers(kOp, "dst0", TileFacts(dst0), from.count, pairs);
    Deinterleave(dst1, dst0, src, from.count, pairs, 0);
  });
}

}  // namespace detail

/// Each row of dst0: elements of the rows of src0 and src1 in turn, src0's first, from their start;
/// of dst1: the same from half of their valid columns, rounded down. Not in place.
///   dst1, dst0, src1, src0  Vec RowMajor tiles of one dtype of 8, 16 or 32 bits and one valid
///   shape
/// On A5 alone. Pipe V. Source: PTO ISA, TINTERLEAVE.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TINTERLEAVE(Dst& dst1, Dst& dst0, Src& src1, Src& src0,
                                                      Events&... events) {
  (events.Wait(), ...);
  detail::Interleave(dst1, dst0, src1, src0);
  npu::KeepCallSite();
  return {};
}

/// Each row of src0, then src1, taken apart: even elements to dst0, odd ones to dst1. Of an odd
/// number of columns the last ones stay. Not in place.
///   dst1, dst0, src1, src0  as in TINTERLEAVE
/// On A5 alone. Pipe V. Source: PTO ISA, TDEINTERLEAVE.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TDEINTERLEAVE(Dst& dst1, Dst& dst0, Src& src1, Src& src0,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::DeinterleaveTwo(dst1, dst0, src1, src0);
  npu::KeepCallSite();
  return {};
}

/// The same of one source; dst1 and dst0 have half of its valid columns.
template <class Dst, class Src, class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TDEINTERLEAVE(Dst& dst1, Dst& dst0, Src& src,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::DeinterleaveOne(dst1, dst0, src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
