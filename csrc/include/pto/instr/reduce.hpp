// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "npu/simd_ops.hpp"
#include "npu/simd_reduce.hpp"
#include "pto/check.hpp"
#include "pto/constants.hpp"
#include "pto/copy_tile.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

inline constexpr size_t kRepeatBytes = REPEAT_BYTE;

/// What A5 reduces besides kLaneArithmetic: columns of all integers (products: of 16 and 32 bits),
/// extremes of rows of 8 bits.
inline constexpr uint32_t kFloats = kHalf | kBfloat16 | kFloat;
inline constexpr TypeRule kColumns = {kLaneArithmetic.a3, kInts8To32 | kInt64 | kUint64 | kFloats};
inline constexpr TypeRule kColumnProducts = {kLaneArithmetic.a3, kInts16And32 | kFloats};
inline constexpr TypeRule kRowExtremes = {kLaneArithmetic.a3, kLaneArithmetic.a5 | kInt8 | kUint8};
inline constexpr TypeRule kPairSum = {kHalf | kFloat, kHalf | kFloat};

/// Elements of a repeat.
template <class T>
inline constexpr size_t kRepeat = kRepeatBytes / sizeof(T);

/// Combines neighbours of the count elements at from, at most a repeat, until one is left; an
/// element without a neighbour passes.
template <class F, class T>
T CombinePairwise(const F& f, const T* from, size_t count) {
  if constexpr (npu::simd::kIsFloatLane<T>) {
    // A whole repeat needs no masks.
    if (count == kRepeat<T>) return npu::simd::CombineRepeats<kRepeat<T>>(f, from, count);
    return npu::simd::CombineNeighbours<kRepeat<T>>(f, from, count);
  } else {
    constexpr size_t kPairs = kRepeat<T> / 2;
    // Whole vectors: what is computed behind the pairs is not used.
    constexpr size_t kWhole = npu::simd::kLanes;
    static_assert(kPairs % kWhole == 0, "expected a repeat of whole vectors");
    T lanes[kRepeat<T>], even[kPairs] = {}, odd[kPairs] = {};
    std::copy_n(from, count, lanes);
    for (; count > 1; count = (count + 1) / 2) {
      const size_t pairs = count / 2;
      const T last = lanes[count - 1];
      for (size_t i = 0; i < pairs; ++i) {
        even[i] = lanes[2 * i];
        odd[i] = lanes[2 * i + 1];
      }
      npu::simd::Map(f, (pairs + kWhole - 1) / kWhole * kWhole, lanes, even, odd);
      if (count % 2 != 0) lanes[pairs] = last;
    }
    return lanes[0];
  }
}

/// The lanes of a repeat take the elements of a line, more than a repeat, in turn; then they are
/// combined pairwise.
template <class F, class T>
T CombineInTurn(const F& f, const T* line, size_t length) {
  constexpr size_t kLanes = kRepeat<T>;
  if constexpr (npu::simd::kIsFloatLane<T>) {
    return npu::simd::CombineRepeats<kLanes>(f, line, length);
  } else {
    T lanes[kLanes];
    std::copy_n(line, kLanes, lanes);
    for (size_t i = kLanes; i < length; i += kLanes) {
      npu::simd::Map(f, std::min(kLanes, length - i), lanes, lanes, line + i);
    }
    return CombinePairwise(f, lanes, kLanes);
  }
}

/// One value of a line of at least one element, each step rounded to T. The order is that of the
/// generation:
///   A2/A3  the lanes of a repeat (256 bytes) take their elements in turn, then neighbouring lanes
///   are combined pairwise
///   A5     each repeat is combined pairwise, then the results of the repeats in turn
template <class F, class T>
T CombineLine(const F& f, npu::Generation generation, const T* line, size_t length) {
  constexpr size_t kLanes = kRepeat<T>;
  if (generation == npu::Generation::kA3 && length > kLanes) return CombineInTurn(f, line, length);
  T result = CombinePairwise(f, line, std::min(length, kLanes));
  for (size_t i = kLanes; i < length; i += kLanes) {
    const T next = CombinePairwise(f, line + i, std::min(kLanes, length - i));
    npu::simd::Map(f, 1, &result, &result, &next);
  }
  return result;
}

NPU_ONE_BODY(NPU_RAISES void RaiseReduced(const char* op, const char* dimension, int expected,
                                          int got)) {
  npu::RaiseFault(op, "dst of " + npu::TextOf(expected) + " valid " + dimension + " (those of src)",
                  npu::TextOf(got));
}

/// Checks that rows and columns reductions share.
template <class Dst, class Src>
inline void CheckReduction(const npu::Core& core, const char* op, TypeRule rule, const Dst& dst,
                           const Src& src) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>, "expected tiles of one element type");
  static_assert(Src::isRowMajor && !Src::isBoxedLayout,
                "expected a RowMajor src without inner boxes");
  static_assert(!Dst::isBoxedLayout, "expected a dst without inner boxes");
  CheckType<T>(core, op, rule, kAny8To32);
  CheckTile(core, op, "dst", dst);
  CheckTile(core, op, "src", src);
}

template <class F, class Dst, class Src>
[[gnu::noinline]] void ReduceRows(const char* op, TypeRule rule, F f, Dst& dst, Src& src) {
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(src);
  const auto operands = [&](auto report) {
    const auto rows = static_cast<int>(std::min<size_t>(lines.count, Dst::Rows));
    report(npu::Work{lines.count * lines.length, 0, 0}, StartAccess(dst, rows, 1, true),
           Reads(src));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckReduction(core, op, rule, dst, src);
    if (core.check_limits && dst.GetValidRow() != src.GetValidRow()) {
      RaiseReduced(op, "rows", src.GetValidRow(), dst.GetValidRow());
    }
    for (size_t row = 0; row < std::min<size_t>(lines.count, Dst::Rows); ++row) {
      *ElementOf(dst, row, 0) = CombineLine(f, core.arch->generation, lines(row), lines.length);
    }
  });
}

/// Row 0 of dst = the rows of src combined one after the other.
template <class F, class Dst, class Src>
void CombineRowsInTurn(const F& f, const Dst& dst, const Src& src) {
  const auto lines = LinesOf(src);
  auto* to = ElementOf(dst, 0, 0);
  std::copy_n(lines(0), lines.length, to);
  for (size_t row = 1; row < lines.count; ++row)
    npu::simd::Map(f, lines.length, to, to, lines(row));
}

/// Combines neighbouring rows pairwise until one is left, in tmp. A row without a neighbour joins
/// the first pair (A2/A3) or the last one (A5).
template <class F, class Dst, class Src, class Tmp>
void CombineRowsPairwise(const F& f, npu::Generation generation, const Dst& dst, const Src& src,
                         const Tmp& tmp) {
  const auto lines = LinesOf(src);
  auto* to = ElementOf(dst, 0, 0);
  const auto row_of = [&](size_t row) { return tmp.data() + row * Tmp::Cols; };
  const auto halve = [&](size_t count, const auto& from) {
    const size_t pairs = count / 2;
    for (size_t pair = 0; pair < pairs; ++pair) {
      npu::simd::Map(f, lines.length, row_of(pair), from(2 * pair), from(2 * pair + 1));
    }
    if (count % 2 == 0) return;
    auto* joined = row_of(generation == npu::Generation::kA3 ? 0 : pairs - 1);
    npu::simd::Map(f, lines.length, joined, joined, from(count - 1));
  };
  if (lines.count == 1) {
    std::copy_n(lines(0), lines.length, to);
    return;
  }
  halve(lines.count, lines);
  for (size_t count = lines.count / 2; count > 1; count /= 2) halve(count, row_of);
  std::copy_n(row_of(0), lines.length, to);
}

NPU_ONE_BODY(NPU_RAISES void RaisePairs(const char* op, int rows, int cols, const TileFacts& tmp)) {
  npu::RaiseFault(op, "tmp of at least " + TileFacts::Extent(rows, cols) + " elements",
                  "a " + tmp.Describe());
}

/// Faults unless tmp holds the sums of the pairs of src's rows.
template <class Tmp, class Src>
inline void CheckPairs(const char* op, const Tmp& tmp, const Src& src) {
  static_assert(std::is_same_v<typename Tmp::DType, typename Src::DType> && Tmp::isRowMajor &&
                    !Tmp::isBoxedLayout,
                "expected a RowMajor tmp of the type of src");
  const int rows = src.GetValidRow() / 2, cols = src.GetValidCol();
  CheckTile(*npu::current_core, op, "tmp", tmp);
  if (rows > Tmp::Rows || cols > Tmp::Cols) RaisePairs(op, rows, cols, TileFacts(tmp));
}

/// combine(dst, src): fills row 0 of dst, called when there is something to combine; by way of the
/// first rows of tmp, if there is one.
template <class Dst, class Src, class Combine, class... Tmp>
[[gnu::noinline]] void ReduceColumns(const char* op, TypeRule rule, Dst& dst, Src& src,
                                     const Combine& combine, const Tmp&... tmp) {
  static_assert(Dst::isRowMajor, "expected a RowMajor dst");
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(src);
  const auto operands = [&](auto report) {
    const auto cols = static_cast<int>(lines.length);
    [[maybe_unused]] const auto pairs = static_cast<int>(lines.count / 2);
    const npu::Work work = {lines.count * lines.length, 0, 0};
    if (lines.count == 0) return report(work);
    report(work, StartAccess(dst, 1, cols, true), StartAccess(tmp, pairs, cols, true)...,
           Reads(src));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckReduction(core, op, rule, dst, src);
    if (core.check_limits && dst.GetValidCol() != src.GetValidCol()) {
      RaiseReduced(op, "columns", src.GetValidCol(), dst.GetValidCol());
    }
    if (lines.count != 0 && lines.length <= Dst::Cols) combine(dst, src);
  });
}

/// dst[i, j] = src[i, 2 j] + src[i, 2 j + 1].
template <class Dst, class Src>
[[gnu::noinline]] void AddPairs(Dst& dst, Src& src) {
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const auto from = LinesOf(src);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto rows = static_cast<int>(std::min<size_t>(from.count, Dst::Rows));
    const auto pairs = static_cast<int>(std::min<size_t>(from.length / 2, Dst::Cols));
    report(npu::Work{from.count * from.length, 0, 0}, StartAccess(dst, rows, pairs, true),
           StartAccess(src, rows, 2 * pairs, false));
  };
  npu::Issue("TPAIRREDUCESUM", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    static_assert(Dst::isRowMajor, "TPAIRREDUCESUM: expected a RowMajor dst");
    CheckReduction(core, "TPAIRREDUCESUM", kPairSum, dst, src);
    CheckSameValidShape(core, "TPAIRREDUCESUM", "src", dst, src);
    for (size_t row = 0; row < std::min<size_t>(from.count, Dst::Rows); ++row) {
      const T* pair = from(row);
      T* to = ElementOf(dst, row, 0);
      for (size_t i = 0; i < std::min<size_t>(from.length / 2, Dst::Cols); ++i, pair += 2)
        to[i] = static_cast<T>(npu::simd::Add{}(pair[0], pair[1]));
      // Programs for simulators find 0 behind the sums.
      const size_t end = std::min<size_t>(from.length, Dst::Cols);
      if (npu::TakesHostForms(core) && end > from.length / 2)
        std::fill(to + from.length / 2, to + end, T{});
    }
  });
}

}  // namespace detail

/// dst[i, 0] = sum over j of src[i, j], each addition rounded to the element type.
///   dst  Vec tile; column 0 takes the sums; as many valid rows as src
///   src  Vec RowMajor tile of half, float, int16 or int32 (A5 also bfloat16)
///   tmp  scratch tile that the chip needs; not touched here
/// Order: detail::CombineLine. Pipe V. Source: PTO ISA, TROWSUM.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TROWSUM(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceRows("TROWSUM", detail::kLaneArithmetic, npu::simd::Add{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, 0] = product over j of src[i, j]; operands and order as TROWSUM. Source: PTO ISA,
/// TROWPROD.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TROWPROD(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceRows("TROWPROD", detail::kLaneArithmetic, npu::simd::Mul{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, 0] = largest of src[i, j] over j; operands as TROWSUM, on A5 also int8 and uint8.
/// Source: PTO ISA, TROWMAX.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TROWMAX(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceRows("TROWMAX", detail::kRowExtremes, npu::simd::Max{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, 0] = smallest of src[i, j] over j; operands as TROWMAX. Source: PTO ISA, TROWMIN.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TROWMIN(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceRows("TROWMIN", detail::kRowExtremes, npu::simd::Min{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = sum over i of src[i, j], row after row, each addition rounded to the element type.
/// No valid row: dst stays.
///   dst  Vec RowMajor tile; row 0 takes the sums; as many valid columns as src
///   src  Vec RowMajor tile of half, float, int16 or int32 (A5 also bfloat16 and the other
///        integers)
/// Pipe V. Source: PTO ISA, TCOLSUM.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLSUM(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceColumns("TCOLSUM", detail::kColumns, dst, src, [](auto& to, auto& from) {
    detail::CombineRowsInTurn(npu::simd::Add{}, to, from);
  });
  npu::KeepCallSite();
  return {};
}

/// The same; is_binary adds neighbouring rows pairwise until one is left, in tmp. Order:
/// detail::CombineRowsPairwise.
///   tmp  Vec RowMajor tile with the columns of src and half its rows
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLSUM(Dst& dst, Src& src, Tmp& tmp, bool is_binary,
                                                  Events&... events) {
  (events.Wait(), ...);
  const auto pairwise = [&](auto& to, auto& from) {
    detail::CheckPairs("TCOLSUM", tmp, from);
    detail::CombineRowsPairwise(npu::simd::Add{}, npu::current_core->arch->generation, to, from,
                                tmp);
  };
  const auto in_turn = [](auto& to, auto& from) {
    detail::CombineRowsInTurn(npu::simd::Add{}, to, from);
  };
  if (is_binary) {
    detail::ReduceColumns("TCOLSUM", detail::kColumns, dst, src, pairwise, tmp);
  } else {
    detail::ReduceColumns("TCOLSUM", detail::kColumns, dst, src, in_turn);
  }
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = product over i of src[i, j]; operands and order as TCOLSUM, integers of 16 and 32
/// bits alone. Source: PTO ISA, TCOLPROD.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLPROD(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceColumns("TCOLPROD", detail::kColumnProducts, dst, src, [](auto& to, auto& from) {
    detail::CombineRowsInTurn(npu::simd::Mul{}, to, from);
  });
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = largest of src[i, j] over i; operands as TCOLSUM. Source: PTO ISA, TCOLMAX.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLMAX(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceColumns("TCOLMAX", detail::kColumns, dst, src, [](auto& to, auto& from) {
    detail::CombineRowsInTurn(npu::simd::Max{}, to, from);
  });
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = smallest of src[i, j] over i; operands as TCOLSUM. Source: PTO ISA, TCOLMIN.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLMIN(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ReduceColumns("TCOLMIN", detail::kColumns, dst, src, [](auto& to, auto& from) {
    detail::CombineRowsInTurn(npu::simd::Min{}, to, from);
  });
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, 2 j] + src[i, 2 j + 1], rounded once, for each pair of valid columns; other
/// elements of dst stay.
///   dst, src  Vec RowMajor tiles of half or float with one valid shape
/// Pipe V. Source: PTO ISA, TPAIRREDUCESUM.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TPAIRREDUCESUM(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::AddPairs(dst, src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
