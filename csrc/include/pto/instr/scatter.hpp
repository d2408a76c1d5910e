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

inline constexpr TypeRule kScattered = {kAny8To32, kAny8To32 | kInt64 | kUint64};

/// All of dst = 0, as the chip does before it scatters.
template <class Dst>
inline void Clear(const Dst& dst) {
  std::memset(static_cast<void*>(dst.data()), 0, Dst::Numel * sizeof(typename Dst::DType));
}

template <class Dst, class Src, class Idx>
[[gnu::noinline]] void ScatterByIndex(Dst& dst, Src& src, Idx& idx) {
  using T = typename Dst::DType;
  using Index = typename Idx::DType;
  constexpr const char* kOp = "TSCATTER";
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TSCATTER: expected dst and src of one element type");
  static_assert(
      std::is_integral_v<Index> && (kForHost || sizeof(Index) == (sizeof(T) <= 2 ? 2 : 4)),
      "TSCATTER: expected indexes of 16 bits for elements of 8 and 16, of 32 for wider");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src> && kIsPlainVec<Idx>,
                "TSCATTER: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto [rows, cols] = ValidExtent(idx);
    report(ElementsOf(idx), AccessOfWhole(TileFacts(dst), true),
           RegionAccess(src, {0, 0, rows, cols}, false), Reads(idx));
  };
  npu::Issue(kOp, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, kOp, kScattered);
    CheckTile(core, kOp, "dst", dst);
    CheckTile(core, kOp, "src", src);
    CheckTile(core, kOp, "indexes", idx);
    const auto from = LinesOf(idx);
    CheckCovers(kOp, "src", TileFacts(src), from.count, from.length);
    Clear(dst);
    for (size_t row = 0; row < from.count; ++row) {
      const Index* index = from(row);
      const T* in = src.data() + row * Src::Cols;
      for (size_t col = 0; col < from.length; ++col)
        dst.data()[CheckedIndex(kOp, "dst", Dst::Numel, index[col], row, col)] = in[col];
    }
  });
}

template <class Dst, class Src>
inline void ScatterRows(const npu::Core& core, const Dst& dst, const Src& src, Every every,
                        bool by_rows) {
  constexpr const char* kOp = "TSCATTER";
  const auto from = LinesOf(src);
  const size_t row_step = by_rows ? every.step : 1, col_step = by_rows ? 1 : every.step;
  const auto to = LinesOf(dst);
  CheckWhole(core, kOp, "valid rows of dst", from.count * row_step, to.count);
  if (core.check_limits && to.length < from.length * col_step)
    RaiseWhole(kOp, "valid columns of dst, or more", from.length * col_step, to.length);
  CheckCovers(kOp, "dst", TileFacts(dst), from.count * row_step, from.length * col_step);
  if (every.step > 1) Clear(dst);
  for (size_t row = 0; row < from.count; ++row) {
    const auto* in = from(row);
    auto* out = dst.data() + (by_rows ? row * every.step + every.first : row) * Dst::Cols +
                (by_rows ? 0 : every.first);
    for (size_t col = 0; col < from.length; ++col) out[col * col_step] = in[col];
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void ScatterByMask(Dst& dst, Src& src, MaskPattern pattern, bool by_rows) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TSCATTER: expected dst and src of one element type");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src>, "TSCATTER: expected RowMajor Vec tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto [rows, cols] = ValidExtent(src);
    report(ElementsOf(dst),
           EveryOf(pattern).step > 1 ? AccessOfWhole(TileFacts(dst), true)
                                     : RegionAccess(dst, {0, 0, rows, cols}, true),
           Reads(src));
  };
  npu::Issue("TSCATTER", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, "TSCATTER", kScattered);
    CheckTile(core, "TSCATTER", "dst", dst);
    CheckTile(core, "TSCATTER", "src", src);
    ScatterRows(core, dst, src, EveryOf(pattern), by_rows);
  });
}

}  // namespace detail

/// All of dst = 0, then the element of dst at indexes[i, j], counted in memory order, = src[i, j]
/// over the valid region of indexes, row after row: of equal indexes the last one stays.
///   dst, src  Vec RowMajor tiles of one dtype of 8, 16 or 32 bits (A5 also 64-bit integers)
///   indexes   Vec RowMajor tile of integers of 16 bits, of 32 for elements of 32 and more; one
///             outside of dst is a fault
/// Pipe V. Source: PTO ISA, TSCATTER.
template <class Dst, class Src, class Idx, class... Events,
          std::enable_if_t<is_tile_data_v<Idx>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TSCATTER(Dst& dst, Src& src, Idx& indexes,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::ScatterByIndex(dst, src, indexes);
  npu::KeepCallSite();
  return {};
}

/// The elements of each row of dst that kPattern takes = those of the row of src, in order; with
/// SCATTER_COL its rows = those of src. The rest of dst = 0.
///   dst, src  Vec RowMajor tiles of one dtype of 8, 16 or 32 bits (A5 also 64-bit integers); dst
///             has 2 or 4 times the valid columns (rows) of src, with P1111 as many; more columns
///             are cleared
/// Pipe V. Source: PTO ISA, TSCATTER.
template <MaskPattern kPattern = MaskPattern::P1111, auto kAxis = ScatterAxis::SCATTER_ROW,
          class Dst, class Src, class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TSCATTER(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::ScatterByMask(dst, src, kPattern, kAxis == ScatterAxis::SCATTER_COL);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
