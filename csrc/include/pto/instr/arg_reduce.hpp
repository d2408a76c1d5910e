// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "npu/simd_ops.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/instr/reduce.hpp"
#include "pto/traits.hpp"

/// Where the extremes of rows and columns stand.
namespace pto {

namespace detail {

inline constexpr TypeRule kRowExtreme = {kInt16 | kInt32 | kHalf | kFloat,
                                         kInt8 | kUint8 | kInt16 | kInt32 | kHalf | kFloat};
inline constexpr TypeRule kColumnExtreme = {kUint16 | kUint32 | kHalf | kFloat,
                                            kInts8To32 | kHalf | kBfloat16 | kFloat};

/// The first of the greatest (least) elements of a line of at least one, or the first NaN.
template <bool kGreatest, class T>
size_t FirstExtreme(const T* line, size_t length) {
  using C = npu::simd::Compute<T>;
  size_t at = 0;
  C best = static_cast<C>(line[0]);
  for (size_t i = 1; i < length && best == best; ++i) {
    const C value = static_cast<C>(line[i]);
    const bool is_further = kGreatest ? value > best : value < best;
    if (is_further || value != value) {
      at = i;
      best = value;
    }
  }
  return at;
}

/// What TROWARGMAX and its neighbours expect of the types of their tiles; dst_value is absent where
/// a kernel does not ask for values.
template <class DstIndex, class Src, class... DstValue>
constexpr void CheckIndexTypes() {
  using I = typename DstIndex::DType;
  using T = typename Src::DType;
  static_assert(std::is_integral_v<I> && (sizeof(I) == 4 || (sizeof...(DstValue) == 1 &&
                                                             sizeof(I) == 2 && sizeof(T) == 2)),
                "expected indices of 32 bits, or of 16 with values of 16 bits");
  static_assert((std::is_same_v<T, typename DstValue::DType> && ...),
                "expected values of the type of src");
  static_assert(Src::isRowMajor && !Src::isBoxedLayout && !DstIndex::isBoxedLayout &&
                    (!DstValue::isBoxedLayout && ...),
                "expected a RowMajor src, and tiles without inner boxes");
}

template <class Dst, class Src>
inline void CheckRowOfEach(const npu::Core& core, const char* op, const char* operand,
                           const Dst& dst, const Src& src) {
  CheckTile(core, op, operand, dst);
  if (core.check_limits && dst.GetValidRow() != src.GetValidRow())
    RaiseReduced(op, "rows", src.GetValidRow(), dst.GetValidRow());
}

template <class Dst, class Src>
inline void CheckColumnOfEach(const npu::Core& core, const char* op, const char* operand,
                              const Dst& dst, const Src& src) {
  static_assert(Dst::isRowMajor, "expected a RowMajor dst");
  CheckTile(core, op, operand, dst);
  if (core.check_limits && dst.GetValidCol() != src.GetValidCol())
    RaiseReduced(op, "columns", src.GetValidCol(), dst.GetValidCol());
}

template <bool kGreatest, class DstIndex, class Src, class... DstValue>
[[gnu::noinline]] void ArgReduceRows(const char* op, DstIndex& dst, Src& src,
                                     DstValue&... dst_value) {
  CheckIndexTypes<DstIndex, Src, DstValue...>();
  using T = typename Src::DType;
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(src);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto rows = static_cast<int>(
        std::min({lines.count, size_t{DstIndex::Rows}, size_t{DstValue::Rows}...}));
    report(npu::Work{lines.count * lines.length, 0, 0}, StartAccess(dst, rows, 1, true),
           StartAccess(dst_value, rows, 1, true)..., Reads(src));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, op, kRowExtreme);
    CheckTile(core, op, "src", src);
    CheckRowOfEach(core, op, "dst", dst, src);
    (CheckRowOfEach(core, op, "dst_value", dst_value, src), ...);
    const size_t rows = std::min({lines.count, size_t{DstIndex::Rows}, size_t{DstValue::Rows}...});
    for (size_t row = 0; row < rows; ++row) {
      const size_t at = FirstExtreme<kGreatest>(lines(row), lines.length);
      [[maybe_unused]] const T value = *lines(row, at);
      *ElementOf(dst, row, 0) = static_cast<typename DstIndex::DType>(at);
      ((*ElementOf(dst_value, row, 0) = value), ...);
    }
  });
}

/// Columns that are reduced at once.
inline constexpr size_t kColumnPiece = 64;

template <class C>
struct ColumnExtremes {
  C best[kColumnPiece];
  uint32_t at[kColumnPiece];

  /// Takes the elements of another row into account. A2/A3 moves on unless the best so far is not
  /// passed, so also from NaN; A5 moves on only to what passes it.
  template <bool kGreatest>
  void Take(bool is_a3, uint32_t row, const C* line, size_t count) {
    using V = npu::simd::Compute<C>;
    for (size_t i = 0; i < count; ++i) {
      const V held = static_cast<V>(best[i]), next = static_cast<V>(line[i]);
      const bool keeps = is_a3 ? (kGreatest ? held >= next : held <= next)
                               : !(kGreatest ? next > held : next < held);
      if (keeps) continue;
      at[i] = row;
      if (!is_a3 || held == held) best[i] = line[i];  // NaN stays on A2/A3
    }
  }
};

/// An index as A2/A3 gives it for 16-bit elements without their values: by way of half, ties away
/// from zero.
inline uint32_t IndexThroughHalf(uint32_t index) {
  uint32_t step = 1;
  for (uint32_t limit = 2048; index >= limit; limit *= 2) step *= 2;
  return (index + step / 2) / step * step;
}

/// C: the type that elements are compared as.
template <bool kGreatest, class C, class DstIndex, class Src, class... DstValue>
void ArgReducePiece(bool is_a3, size_t first, size_t count, const DstIndex& dst, const Src& src,
                    const DstValue&... dst_value) {
  const auto lines = LinesOf(src);
  ColumnExtremes<C> extremes = {};
  std::memcpy(static_cast<void*>(extremes.best), lines(0, first), count * sizeof(C));
  for (size_t row = 1; row < lines.count; ++row) {
    C line[kColumnPiece];
    std::memcpy(static_cast<void*>(line), lines(row, first), count * sizeof(C));
    extremes.template Take<kGreatest>(is_a3, static_cast<uint32_t>(row), line, count);
  }
  const bool by_half = is_a3 && sizeof(C) == 2 && sizeof...(DstValue) == 0;
  auto* to = ElementOf(dst, 0, first);
  for (size_t i = 0; i < count; ++i) {
    to[i] = static_cast<typename DstIndex::DType>(by_half ? IndexThroughHalf(extremes.at[i])
                                                          : extremes.at[i]);
  }
  (std::memcpy(static_cast<void*>(ElementOf(dst_value, 0, first)), extremes.best,
               count * sizeof(C)),
   ...);
}

/// A2/A3 compares unsigned integers as the floats that have their bits.
template <class T>
using AsCompared = std::conditional_t<std::is_same_v<T, uint16_t>, half,
                                      std::conditional_t<std::is_same_v<T, uint32_t>, float, T>>;

template <bool kGreatest, class DstIndex, class Src, class... DstValue>
[[gnu::noinline]] void ArgReduceColumns(const char* op, DstIndex& dst, Src& src,
                                        DstValue&... dst_value) {
  CheckIndexTypes<DstIndex, Src, DstValue...>();
  using T = typename Src::DType;
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(src);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto cols = static_cast<int>(
        std::min({lines.length, size_t{DstIndex::Cols}, size_t{DstValue::Cols}...}));
    const int rows = lines.count != 0;
    report(npu::Work{lines.count * lines.length, 0, 0}, StartAccess(dst, rows, cols, true),
           StartAccess(dst_value, rows, cols, true)..., Reads(src));
  };
  npu::Issue(op, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, op, kColumnExtreme);
    CheckTile(core, op, "src", src);
    CheckColumnOfEach(core, op, "dst", dst, src);
    (CheckColumnOfEach(core, op, "dst_value", dst_value, src), ...);
    if (lines.count == 0) return;
    const bool is_a3 = core.arch->generation == npu::Generation::kA3;
    const size_t cols = std::min({lines.length, size_t{DstIndex::Cols}, size_t{DstValue::Cols}...});
    for (size_t first = 0; first < cols; first += kColumnPiece) {
      const size_t count = std::min(kColumnPiece, cols - first);
      if (is_a3)
        ArgReducePiece<kGreatest, AsCompared<T>>(is_a3, first, count, dst, src, dst_value...);
      else
        ArgReducePiece<kGreatest, T>(is_a3, first, count, dst, src, dst_value...);
    }
  });
}

}  // namespace detail

/// dst[i, 0] = j of the first of the greatest src[i, j], or of the first NaN.
///   dst  Vec tile of int32 or uint32 with as many valid rows as src; column 0 takes the indices
///   src  Vec RowMajor tile of half, float, int16 or int32 (A5 also int8, uint8)
///   tmp  scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TROWARGMAX.
template <class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TROWARGMAX(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceRows<true>("TROWARGMAX", dst, src);
  npu::KeepCallSite();
  return {};
}

/// The same, and dst_value[i, 0] = that element.
///   dst_value  Vec tile of the type of src
///   dst        may be int16 or uint16 where src has 16 bits
template <class DstValue, class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TROWARGMAX(DstValue& dst_value, Dst& dst, Src& src, Tmp&,
                                                     Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceRows<true>("TROWARGMAX", dst, src, dst_value);
  npu::KeepCallSite();
  return {};
}

/// dst[i, 0] = j of the first of the least src[i, j], or of the first NaN; operands as TROWARGMAX.
/// Source: PTO ISA, TROWARGMIN.
template <class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TROWARGMIN(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceRows<false>("TROWARGMIN", dst, src);
  npu::KeepCallSite();
  return {};
}

/// The same, and dst_value[i, 0] = that element.
template <class DstValue, class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TROWARGMIN(DstValue& dst_value, Dst& dst, Src& src, Tmp&,
                                                     Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceRows<false>("TROWARGMIN", dst, src, dst_value);
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = i of the first of the greatest src[i, j]. No valid row: dst stays.
///   dst  Vec RowMajor tile of int32 or uint32; row 0 takes the indices; as many valid columns as
///        src. Of 16-bit elements A2/A3 rounds indices above 2048 as half holds them.
///   src  Vec RowMajor tile. A2/A3: half, float, and uint16 and uint32, whose bits are compared as
///        those of half and float; A5 integers of 8 to 32 bits, half, bfloat16, float.
///   tmp  scratch tile that the chip needs; not touched here
/// NaN: from there on each row counts as greater on A2/A3 (the last one is found), as not greater
/// on A5. Pipe V. Source: PTO ISA, TCOLARGMAX.
template <class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TCOLARGMAX(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceColumns<true>("TCOLARGMAX", dst, src);
  npu::KeepCallSite();
  return {};
}

/// The same, and dst_value[0, j] = that element, on A2/A3 NaN if there is one.
///   dst_value  Vec RowMajor tile of the type of src
///   dst        may be int16 or uint16 where src has 16 bits; indices are not rounded
template <class DstValue, class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TCOLARGMAX(DstValue& dst_value, Dst& dst, Src& src, Tmp&,
                                                     Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceColumns<true>("TCOLARGMAX", dst, src, dst_value);
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = i of the first of the least src[i, j]; operands and NaN as TCOLARGMAX.
/// Source: PTO ISA, TCOLARGMIN.
template <class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TCOLARGMIN(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceColumns<false>("TCOLARGMIN", dst, src);
  npu::KeepCallSite();
  return {};
}

/// The same, and dst_value[0, j] = that element.
template <class DstValue, class Dst, class Src, class Tmp, class... Events,
          std::enable_if_t<is_tile_data_v<Tmp> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TCOLARGMIN(DstValue& dst_value, Dst& dst, Src& src, Tmp&,
                                                     Events&... events) {
  (events.Wait(), ...);
  detail::ArgReduceColumns<false>("TCOLARGMIN", dst, src, dst_value);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
