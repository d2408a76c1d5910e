// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "npu/simd_math.hpp"
#include "npu/simd_ops.hpp"
#include "npu/simd_reduce.hpp"
#include "pto/check.hpp"
#include "pto/copy_tile.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// Waits for the events among the trailing operands of an instruction that takes an optional
/// scratch tile before them.
template <class... Rest>
[[gnu::always_inline]] inline void WaitEvents(Rest&... rest) {
  [[maybe_unused]] const auto wait = []([[maybe_unused]] auto& operand) {
    if constexpr (!IsTile<std::remove_const_t<std::remove_reference_t<decltype(operand)>>>::value)
      operand.Wait();
  };
  (wait(rest), ...);
}

inline constexpr uint32_t kUpTo32Bits = kInts8To32 | kHalf | kBfloat16 | kFloat;
inline constexpr TypeRule kExpandable = {kUpTo32Bits, kUpTo32Bits | kInt64 | kUint64};
inline constexpr TypeRule kExpandFloat = {kHalf | kFloat, kHalf | kBfloat16 | kFloat};

NPU_ONE_BODY(NPU_RAISES void RaiseExpand(const char* op, const npu::Text& expected, int rows,
                                         int cols)) {
  npu::RaiseFault(op, expected, TileFacts::Extent(rows, cols));
}

/// Types and valid regions that all expansions share.
template <class T, class... Tiles>
inline void CheckExpansion(const npu::Core& core, const char* op, TypeRule rule,
                           const Tiles&... tiles) {
  static_assert(((std::is_same_v<T, typename Tiles::DType> && !Tiles::isBoxedLayout) && ...),
                "expected tiles of one element type without inner boxes");
  CheckType<T>(core, op, rule, kAny8To32);
  [[maybe_unused]] int operand = 0;
  [[maybe_unused]] constexpr const char* kNames[] = {"dst", "src0", "src1"};
  (CheckTile(core, op, kNames[operand++], tiles), ...);
}

/// Rows (columns) up to the extent of tiles: what is computed with checks off.
template <class... Tiles>
constexpr size_t RowsWithin(size_t rows) {
  return std::min({rows, static_cast<size_t>(Tiles::Rows)...});
}
template <class... Tiles>
constexpr size_t ColsWithin(size_t cols) {
  return std::min({cols, static_cast<size_t>(Tiles::Cols)...});
}

/// True if src holds one value per row of dst as a single row: the form that the chip broadcasts to
/// blocks of 32 bytes.
template <class Dst, class Src>
inline constexpr bool kIsRowOfValues =
    Src::isRowMajor && Src::Rows == 1 && Dst::Rows != 1 && Src::Cols == Dst::Rows &&
    Dst::Cols * sizeof(typename Dst::DType) == npu::kTileAlignment;

template <class Dst, class Src>
[[gnu::noinline]] void ExpandRows(Dst& dst, Src& src) {
  static_assert(Dst::isRowMajor, "TROWEXPAND: expected a RowMajor dst");
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(dst);
  const auto operands = [&](auto report) {
    const auto rows = static_cast<int>(lines.count);
    constexpr bool kLies = kIsRowOfValues<Dst, Src>;
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst),
           StartAccess(src, kLies ? 1 : rows, kLies ? rows : 1, false));
  };
  npu::Issue("TROWEXPAND", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckExpansion<T>(core, "TROWEXPAND", kExpandable, dst, src);
    if constexpr (!kIsRowOfValues<Dst, Src>) {
      if (core.check_limits && src.GetValidRow() != dst.GetValidRow()) {
        RaiseExpand("TROWEXPAND",
                    "src of " + npu::TextOf(dst.GetValidRow()) + " valid rows (those of dst)",
                    src.GetValidRow(), src.GetValidCol());
      }
    }
    const size_t rows = kIsRowOfValues<Dst, Src> ? lines.count : RowsWithin<Src>(lines.count);
    for (size_t row = 0; row < rows; ++row) {
      const T value = kIsRowOfValues<Dst, Src> ? *ElementOf(src, 0, row) : *ElementOf(src, row, 0);
      std::fill_n(lines(row), lines.length, value);
    }
  });
}

template <class Dst, class Src>
[[gnu::noinline]] void ExpandColumns(Dst& dst, Src& src) {
  static_assert(Dst::isRowMajor && Src::isRowMajor, "TCOLEXPAND: expected RowMajor tiles");
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(dst);
  const auto operands = [&](auto report) {
    const auto cols = static_cast<int>(ColsWithin<Src>(lines.length));
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst),
           StartAccess(src, 1, cols, false));
  };
  npu::Issue("TCOLEXPAND", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckExpansion<T>(core, "TCOLEXPAND", kExpandable, dst, src);
    if (src.GetValidRow() == 0) return;
    if (core.check_limits && src.GetValidCol() != dst.GetValidCol()) {
      RaiseExpand("TCOLEXPAND",
                  "src of " + npu::TextOf(dst.GetValidCol()) + " valid columns (those of dst)",
                  src.GetValidRow(), src.GetValidCol());
    }
    const T* from = ElementOf(src, 0, 0);
    for (size_t row = 0; row < lines.count; ++row) {
      if (lines(row) != from) std::copy_n(from, ColsWithin<Src>(lines.length), lines(row));
    }
  });
}

/// What an arithmetic expansion repeats along a row: one value per row, or a block of 32 bytes.
template <class Narrow>
inline constexpr bool kRepeatsBlock = Narrow::isRowMajor && Narrow::Cols != 1;

/// count values of such a block, as they are repeated from column at on.
template <class Narrow, class T>
const T* RowValues(const Narrow& narrow, size_t row, size_t at, size_t count, T* buffer) {
  const auto period = static_cast<size_t>(std::clamp(narrow.GetValidCol(), 1, Narrow::Cols));
  for (size_t i = 0; i < count; ++i) buffer[i] = *ElementOf(narrow, row, (at + i) % period);
  return buffer;
}

/// body(row, column, elements, buffer for as many) for strips of rows x cols.
template <class T, class Body>
inline void ForEachStrip(size_t rows, size_t cols, const Body& body) {
  constexpr size_t kStrip = 4096 / sizeof(T);  // 4 KiB: within the stack of a core, and the L1
  T buffer[kStrip];
  for (size_t row = 0; row < rows; ++row) {
    for (size_t at = 0; at < cols; at += kStrip) {
      body(row, at, std::min(kStrip, cols - at), buffer);
    }
  }
}

/// What RowValues reads for rows of cols elements, for observers.
template <class Narrow>
inline npu::AccessList ReadsRepeated(const Narrow& narrow, int rows, int cols) {
  const int period = kRepeatsBlock<Narrow> ? std::clamp(narrow.GetValidCol(), 1, Narrow::Cols) : 1;
  return StartAccess(narrow, rows, std::min(period, cols), false);
}

template <class Dst, class Src>
inline bool HasShapeOf(const Dst& dst, const Src& src) {
  return src.GetValidRow() == dst.GetValidRow() && src.GetValidCol() == dst.GetValidCol();
}

/// Faults unless one operand has the valid shape of dst and the other its rows.
template <class Dst, class Src0, class Src1>
inline void CheckRepeatedRows(const npu::Core& core, const char* op, const Dst& dst,
                              const Src0& src0, const Src1& src1) {
  const int rows = dst.GetValidRow();
  const bool good = (HasShapeOf(dst, src0) && src1.GetValidRow() == rows) ||
                    (HasShapeOf(dst, src1) && src0.GetValidRow() == rows);
  if (__builtin_expect(good || !core.check_limits, 1)) return;
  RaiseExpand(op,
              "one operand of valid shape " + TileFacts::Extent(rows, dst.GetValidCol()) +
                  " (that of dst) and one with its rows",
              src1.GetValidRow(), src1.GetValidCol());
}

/// dst[i, j] = f(wide[i, j], narrow[i, j]), narrow repeated along rows; the other way round where
/// kNarrowFirst.
template <bool kNarrowFirst, class F, class Dst, class Wide, class Narrow>
void MapRepeated(const F& f, size_t rows, Dst& dst, const Wide& wide, const Narrow& narrow) {
  using T = typename Dst::DType;
  using C = std::conditional_t<npu::simd::kIsFloatLane<T>, float, T>;
  using npu::simd::Map;
  const auto lines = LinesOf(dst);
  const size_t cols = ColsWithin<Wide>(lines.length);
  const auto from = [&](size_t row, size_t at) -> const T* { return ElementOf(wide, row, at); };
  if constexpr (!kRepeatsBlock<Narrow>) {
    using G =
        std::conditional_t<kNarrowFirst, npu::simd::WithFirst<F, C>, npu::simd::WithSecond<F, C>>;
    for (size_t row = 0; row < rows; ++row) {
      Map(G{static_cast<C>(*ElementOf(narrow, row, 0))}, cols, lines(row), from(row, 0));
    }
  } else {
    ForEachStrip<T>(rows, cols, [&](size_t row, size_t at, size_t count, T* buffer) {
      const T* const values = RowValues(narrow, row, at, count, buffer);
      if constexpr (kNarrowFirst) {
        Map(f, count, lines(row, at), values, from(row, at));
      } else {
        Map(f, count, lines(row, at), from(row, at), values);
      }
    });
  }
}

/// dst[i, j] = f(src0[i, j], src1[i, j]) where the operand that is narrower than dst is repeated
/// along its rows.
template <class F, class Dst, class Src0, class Src1>
[[gnu::noinline]] void ExpandRowsWith(const char* op, TypeRule rule, F f, Dst& dst, Src0& src0,
                                      Src1& src1) {
  static_assert(Dst::isRowMajor, "expected a RowMajor dst");
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(dst);
  const auto operands = [&](auto report) {
    const auto cols = static_cast<int>(lines.length);
    const auto rows = static_cast<int>(RowsWithin<Src0, Src1>(lines.count));
    const bool repeats_second = Src0::isRowMajor && HasShapeOf(dst, src0);
    report(npu::Work{lines.count * lines.length, 0, 0}, StartAccess(dst, rows, cols, true),
           repeats_second ? StartAccess(src0, rows, cols, false) : ReadsRepeated(src0, rows, cols),
           repeats_second ? ReadsRepeated(src1, rows, cols) : StartAccess(src1, rows, cols, false));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckExpansion<T>(core, op, rule, dst, src0, src1);
    CheckRepeatedRows(core, op, dst, src0, src1);
    const size_t rows = RowsWithin<Src0, Src1>(lines.count);
    if (Src0::isRowMajor && HasShapeOf(dst, src0)) {
      MapRepeated<false>(f, rows, dst, src0, src1);
    } else if constexpr (Src1::isRowMajor) {
      MapRepeated<true>(f, rows, dst, src1, src0);
    } else {
      npu::RaiseFault(op, "a RowMajor operand of the valid shape of dst", "a ColMajor one");
    }
  });
}

/// dst[i, j] = f(src0[i, j], src1[0, j]).
template <class F, class Dst, class Src0, class Src1>
[[gnu::noinline]] void ExpandColumnsWith(const char* op, TypeRule rule, F f, Dst& dst, Src0& src0,
                                         Src1& src1) {
  static_assert(Dst::isRowMajor && Src0::isRowMajor && Src1::isRowMajor, "expected RowMajor tiles");
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(dst);
  const auto operands = [&](auto report) {
    const auto cols = static_cast<int>(ColsWithin<Src0, Src1>(lines.length));
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst), Reads(src0),
           StartAccess(src1, 1, cols, false));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckExpansion<T>(core, op, rule, dst, src0, src1);
    CheckSameValidShape(core, op, "src0", dst, src0);
    if (core.check_limits && src1.GetValidCol() != dst.GetValidCol()) {
      RaiseExpand(op, "src1 of " + npu::TextOf(dst.GetValidCol()) + " valid columns (those of dst)",
                  src1.GetValidRow(), src1.GetValidCol());
    }
    const size_t length = ColsWithin<Src0, Src1>(lines.length);
    for (size_t row = 0; row < RowsWithin<Src0>(lines.count); ++row) {
      npu::simd::Map(f, length, lines(row), ElementOf(src0, row, 0), ElementOf(src1, 0, 0));
    }
  });
}

/// exp(a - b) in E, in which the difference is rounded.
template <class E>
struct ExpOfDifference {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, npu::simd::Float>)
      return npu::simd::Exp{}(npu::simd::detail::Rounded<E>(a - b));
    else
      return npu::simd::Exp{}(a - b);
  }
};

}  // namespace detail

/// dst[i, j] = src[i, 0]; src a column of values, or a row of them where dst has one block of 32
/// bytes per row.
///   dst  Vec RowMajor tile of 8, 16 or 32-bit elements (A5 also 64);  src  Vec tile with its valid
///        rows
/// Pipe V. Source: PTO ISA, TROWEXPAND.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TROWEXPAND(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ExpandRows(dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[0, j].
///   dst, src  Vec RowMajor tiles of 8, 16 or 32-bit elements (A5 also 64) with the same valid
///             columns
/// Pipe V. Source: PTO ISA, TCOLEXPAND.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPAND(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumns(dst, src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
