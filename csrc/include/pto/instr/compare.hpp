// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include "npu/simd_compare.hpp"
#include "pto/check.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

inline constexpr uint32_t kComparable = kAllInts | kHalf | kBfloat16 | kFloat;
inline constexpr TypeRule kCompared = {kInt32 | kHalf | kFloat, kComparable};
inline constexpr TypeRule kComparedToScalar = {kInt16 | kUint16 | kInt32 | kHalf | kFloat,
                                               kComparable};
inline constexpr TypeRule kMaskElements = {kUint8, kUint8 | kUint32};
inline constexpr TypeRule kSelected = {kAny16And32, kAny8To32};

/// The mask of bits in a tile: a row of it begins a row of the tile.
template <class TileT>
struct BitRows {
  static_assert(TileT::isRowMajor && !TileT::isBoxedLayout && TileT::Loc == TileType::Vec,
                "expected a RowMajor Vec tile as mask");
  static constexpr size_t kRowBytes = TileT::Cols * sizeof(typename TileT::DType);

  uint8_t* data;

  explicit BitRows(const TileT& tile) : data(reinterpret_cast<uint8_t*>(tile.data())) {}
  uint8_t* operator()(size_t row) const { return data + row * kRowBytes; }

  static npu::Access Touched(const TileT& tile, bool is_write, size_t rows, size_t cols) {
    return {npu::Space::kUb, is_write, tile.data(), rows, (cols + 7) / 8, kRowBytes};
  }
};

NPU_ONE_BODY(NPU_RAISES void RaiseMask(const char* op, const char* operand, const TileFacts& mask,
                                       size_t row_bytes, size_t rows, size_t cols)) {
  if (!npu::IsPlace(mask.data)) RaiseTile(op, operand, mask);
  npu::RaiseFault(op,
                  npu::Text(operand) + " with " + npu::TextOf((cols + 7) / 8) +
                      " bytes in each of " + npu::TextOf(rows) + " rows",
                  npu::TextOf(row_bytes) + " in each of " + npu::TextOf(mask.kind->rows));
}

/// Faults unless mask has a bit for each of rows x cols elements; also with checks off, since
/// nothing else bounds it.
template <class TileT>
inline void CheckMask(const char* op, const char* operand, const TileT& mask, size_t rows,
                      size_t cols) {
  constexpr size_t kRowBytes = BitRows<TileT>::kRowBytes;
  const bool good = npu::IsPlace(mask.data()) && rows <= TileT::Rows && (cols + 7) / 8 <= kRowBytes;
  if (__builtin_expect(!good, 0)) RaiseMask(op, operand, TileFacts(mask), kRowBytes, rows, cols);
}

NPU_ONE_BODY(NPU_RAISES void RaiseMaskRows(const char* op, int expected, int got)) {
  npu::RaiseFault(op, "dst of " + npu::TextOf(expected) + " valid rows (those of src)",
                  npu::TextOf(got));
}

NPU_ONE_BODY(NPU_RAISES void RaiseComparison(const npu::Core& core, const char* op, int mode)) {
  if (mode > static_cast<int>(CmpMode::GE))
    npu::RaiseFault(op, "a mode from EQ (0) to GE (5)", npu::TextOf(mode));
  npu::RaiseFault(op, npu::Text("mode EQ (0) or NE (1) for int32 on ") + core.arch->soc,
                  npu::TextOf(mode));
}

/// What A2/A3 does with mode on elements of type T: integers of 32 bits are tested for equality
/// alone.
template <class T>
inline void CheckComparison(const npu::Core& core, const char* op, CmpMode mode) {
  const bool only_equal = std::is_same_v<T, int32_t> && core.check_limits &&
                          core.arch->generation == npu::Generation::kA3;
  if (__builtin_expect(mode > (only_equal ? CmpMode::NE : CmpMode::GE), 0))
    RaiseComparison(core, op, static_cast<int>(mode));
}

/// dst = bits of src[i, j] <mode> other[i, j], where b holds the scalar if it is one.
template <class Dst, class Src, class T>
inline void CompareRows(const npu::Core& core, CmpMode mode, Computed region, const Dst& dst,
                        const Src& src, const T* b, size_t b_pitch, bool b_is_scalar) {
  const auto lines = LinesOf(src);
  const BitRows<Dst> bits(dst);
  const auto comparison = static_cast<npu::simd::Comparison>(mode);
  for (size_t row = 0; row < region.rows; ++row) {
    const T* b_row = b + row * b_pitch;
    if constexpr (std::is_integral_v<T> && sizeof(T) == 2) {
      if (core.arch->generation == npu::Generation::kA3) {  // takes the bits for those of half
        npu::simd::CompareToBits(comparison, region.cols, bits(row),
                                 reinterpret_cast<const half*>(lines(row)),
                                 reinterpret_cast<const half*>(b_row), b_is_scalar);
        continue;
      }
    }
    npu::simd::CompareToBits(comparison, region.cols, bits(row), static_cast<const T*>(lines(row)),
                             b_row, b_is_scalar);
  }
}

template <const TypeRule& kRule, class Dst, class Src, class... Other>
inline Computed CheckCompared(const npu::Core& core, const char* op, CmpMode mode, const Dst& dst,
                              const Src& src, const Other&... other) {
  using T = typename Src::DType;
  static_assert((std::is_same_v<T, typename Other::DType> && ...),
                "expected sources of one element type");
  static_assert(Src::isRowMajor && !Src::isBoxedLayout, "expected RowMajor sources");
  const Computed region = CheckElementwise<T>(core, op, kRule, src, other...);
  CheckType<typename Dst::DType>(core, op, kMaskElements);
  CheckComparison<T>(core, op, mode);
  if (core.check_limits && dst.GetValidRow() != src.GetValidRow())
    RaiseMaskRows(op, src.GetValidRow(), dst.GetValidRow());
  CheckMask(op, "dst", dst, region.rows, region.cols);
  return region;
}

template <class Dst, class Src0, class Src1>
[[gnu::noinline]] void CompareTiles(Dst& dst, Src0& src0, Src1& src1, CmpMode mode) {
  static_assert(Src1::isRowMajor && !Src1::isBoxedLayout, "TCMP: expected RowMajor sources");
  using T = typename Src0::DType;
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto lines = LinesOf(src0);
    report(npu::Work{lines.count * lines.length, 0, 0},
           BitRows<Dst>::Touched(dst, true, lines.count, lines.length), Reads(src0), Reads(src1));
  };
  npu::Issue("TCMP", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    const Computed region = CheckCompared<kCompared>(core, "TCMP", mode, dst, src0, src1);
    if constexpr (IsComputed<T>(kCompared))
      CompareRows<Dst, Src0, T>(core, mode, region, dst, src0, src1.data(), Order<Src1>::kLength,
                                false);
  });
}

/// place: the element of a tile to compare with, instead of scalar.
template <class Dst, class Src>
[[gnu::noinline]] void CompareWithScalar(Dst& dst, Src& src, typename Src::DType scalar,
                                         CmpMode mode, const typename Src::DType* place = nullptr) {
  using T = typename Src::DType;
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto lines = LinesOf(src);
    report(npu::Work{lines.count * lines.length, 0, 0},
           BitRows<Dst>::Touched(dst, true, lines.count, lines.length), Reads(src),
           npu::Access{npu::Space::kUb, false, place, place != nullptr, sizeof(T), sizeof(T)});
  };
  npu::Issue("TCMPS", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    const Computed region = CheckCompared<kComparedToScalar>(core, "TCMPS", mode, dst, src);
    T scalars[npu::simd::kComparedAtOnce];
    std::fill_n(scalars, npu::simd::kComparedAtOnce, place != nullptr ? *place : scalar);
    if constexpr (IsComputed<T>(kComparedToScalar))
      CompareRows<Dst, Src, T>(core, mode, region, dst, src, scalars, 0, true);
  });
}

/// dst[i, j] = bit of mask ? src0[i, j] : other[i, j], where b holds the scalar if it is one.
template <class Dst, class Mask, class Src>
inline void SelectRows(Computed region, const Dst& dst, const Mask& mask, const Src& src0,
                       const typename Src::DType* b, size_t b_pitch, bool b_is_scalar) {
  using U = npu::simd::UintOf<sizeof(typename Dst::DType)>;
  const auto to = LinesOf(dst);
  const auto from = LinesOf(src0);
  const BitRows<Mask> bits(mask);
  for (size_t row = 0; row < region.rows; ++row) {
    npu::simd::SelectByBits(region.cols, reinterpret_cast<U*>(to(row)), bits(row),
                            reinterpret_cast<const U*>(from(row)),
                            reinterpret_cast<const U*>(b + row * b_pitch), b_is_scalar);
  }
}

template <class Dst, class Mask, class... Src>
inline Computed CheckSelected(const char* op, const Dst& dst, const Mask& mask, const Src&... src) {
  using T = typename Dst::DType;
  static_assert((std::is_same_v<T, typename Src::DType> && ...),
                "expected dst and sources of one element type");
  static_assert(
      Dst::isRowMajor && !Dst::isBoxedLayout && ((Src::isRowMajor && !Src::isBoxedLayout) && ...),
      "expected RowMajor tiles");
  const npu::Core& core = *npu::current_core;
  if constexpr (!IsComputed<T>(kSelected)) RaiseType(core, op, kSelected.a5, kTypeName<T>);
  const Computed region = CheckElementwise<T>(core, op, kSelected, dst, src...);
  CheckMask(op, "the mask", mask, region.rows, region.cols);
  return region;
}

template <class Dst, class Mask, class Src0, class Src1>
[[gnu::noinline]] void SelectTiles(Dst& dst, Mask& mask, Src0& src0, Src1& src1) {
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto lines = LinesOf(dst);
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst),
           BitRows<Mask>::Touched(mask, false, lines.count, lines.length), Reads(src0),
           Reads(src1));
  };
  npu::Issue("TSEL", npu::Pipe::kV, call_site, operands, [&] {
    [[maybe_unused]] const Computed region = CheckSelected("TSEL", dst, mask, src0, src1);
    if constexpr (IsComputed<typename Dst::DType>(kSelected))
      SelectRows(region, dst, mask, src0, src1.data(), Order<Src1>::kLength, false);
  });
}

template <class Dst, class Mask, class Src>
[[gnu::noinline]] void SelectOrScalar(Dst& dst, Mask& mask, Src& src, typename Src::DType scalar) {
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const auto lines = LinesOf(dst);
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst),
           BitRows<Mask>::Touched(mask, false, lines.count, lines.length), Reads(src));
  };
  npu::Issue("TSELS", npu::Pipe::kV, call_site, operands, [&] {
    [[maybe_unused]] const Computed region = CheckSelected("TSELS", dst, mask, src);
    typename Src::DType scalars[npu::simd::kSelectedAtOnce];
    std::fill_n(scalars, npu::simd::kSelectedAtOnce, scalar);
    if constexpr (IsComputed<typename Dst::DType>(kSelected))
      SelectRows(region, dst, mask, src, scalars, 0, true);
  });
}

}  // namespace detail

/// Bit j % 8 of byte j / 8 in row i of dst = src0[i, j] <mode> src1[i, j]. Bits behind the last
/// element of its byte are 0, bytes behind it stay.
///   dst         Vec RowMajor tile of uint8 (A5 also uint32) with the valid rows of the sources
///   src0, src1  Vec RowMajor tiles of one dtype and valid shape. A2/A3: half, float, int32 (EQ and
///               NE only); A5 also bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TCMP.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCMP(Dst& dst, Src0& src0, Src1& src1, CmpMode mode,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::CompareTiles(dst, src0, src1, mode);
  npu::KeepCallSite();
  return {};
}

/// Bit j % 8 of byte j / 8 in row i of dst = src[i, j] <mode> scalar, as TCMP.
///   dst  Vec RowMajor tile of uint8 (A5 also uint32) with the valid rows of src
///   src  Vec RowMajor tile. A2/A3: half, float, int32 (EQ and NE only), int16 and uint16, whose
///   bits
///        are compared as those of half; A5 also bfloat16 and the other integers, each as itself.
/// Pipe V. Source: PTO ISA, TCMPS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCMPS(Dst& dst, Src& src, typename Src::DType scalar,
                                                CmpMode mode, Events&... events) {
  (events.Wait(), ...);
  detail::CompareWithScalar(dst, src, scalar, mode);
  npu::KeepCallSite();
  return {};
}

/// The same with the first element of a tile as scalar.
template <class Dst, class Src0, class Src1, class... Events, class = typename Src1::TileDType>
[[gnu::always_inline]] inline RecordEvent TCMPS(Dst& dst, Src0& src0, Src1& src1, CmpMode mode,
                                                Events&... events) {
  static_assert(std::is_same_v<typename Src0::DType, typename Src1::DType>,
                "TCMPS: expected sources of one element type");
  (events.Wait(), ...);
  detail::CheckNext("TCMPS", "src1", src1);
  detail::CompareWithScalar(dst, src0, typename Src0::DType{}, mode, src1.data());
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = bit j % 8 of byte j / 8 in row i of mask ? src0[i, j] : src1[i, j].
///   dst, src0, src1  Vec RowMajor tiles of one dtype of 16 or 32 bits (A5 also 8) and valid shape
///   mask             Vec RowMajor tile, its rows as TCMP writes them
///   tmp              scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TSEL.
template <class Dst, class Mask, class Src0, class Src1, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TSEL(Dst& dst, Mask& mask, Src0& src0, Src1& src1, Tmp&,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::SelectTiles(dst, mask, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = bit j % 8 of byte j / 8 in row i of mask ? src[i, j] : scalar, as TSEL.
/// Pipe V. Source: PTO ISA, TSELS.
template <class Dst, class Mask, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TSELS(Dst& dst, Mask& mask, Src& src, Tmp&,
                                                typename Src::DType scalar, Events&... events) {
  (events.Wait(), ...);
  detail::SelectOrScalar(dst, mask, src, scalar);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
