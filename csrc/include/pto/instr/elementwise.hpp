// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "npu/simd_ops.hpp"
#include "pto/check.hpp"
#include "pto/instr/elementwise_on_host.hpp"
#include "pto/layout.hpp"

namespace pto {

/// Precision that a kernel asks for as first template argument; the results here are the same.
enum class DivAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };

namespace detail {

inline constexpr uint32_t kAllInts = kInts8To32 | kInt64 | kUint64;
inline constexpr TypeRule kArithmetic = {kInt16 | kInt32 | kHalf | kFloat,
                                         kAllInts | kHalf | kBfloat16 | kFloat};
inline constexpr TypeRule kProduct = {kArithmetic.a3, kArithmetic.a5 & ~(kInt8 | kUint8)};
inline constexpr TypeRule kQuotient = {kHalf | kFloat,
                                       (kAllInts & ~(kInt8 | kUint8)) | kHalf | kFloat};
inline constexpr TypeRule kBitwise = {kInts8To32, kInts8To32};
inline constexpr TypeRule kAnyBits = {kAny8To32, kAny8To32};
inline constexpr TypeRule kBitsOrInts = {kAny8To32, kInts8To32};  // by generation
inline constexpr TypeRule kShift = {kInts8To32, kAllInts};

/// One operand of a loop over lines: the first element, and the distance between lines in elements.
template <class T>
struct Pitched {
  T* data;
  size_t pitch;
};

/// to[line][i] = f(from[line][i]...). Depends on the element types alone, so that tiles of any
/// extent share it.
template <class F, class To, class... From>
[[gnu::noinline]] void MapLines(const F& f, size_t lines, size_t length, Pitched<To> to,
                                Pitched<From>... from) {
  if (to.pitch == length && ((from.pitch == length) && ...)) {  // no gaps between the lines
    length *= lines;
    lines = 1;
  }
  for (size_t line = 0; line < lines; ++line) {
    npu::simd::Map(f, length, to.data + line * to.pitch, from.data + line * from.pitch...);
  }
}

// Of the loops that most kernels have: their templates, too, have one body (npu/one_body.hpp).
#if defined(NPU_BODIES_ELSEWHERE) || defined(NPU_BODIES_HERE)
#if defined(NPU_BODIES_ELSEWHERE)
#define NPU_ONE_LOOP extern template
#else
#define NPU_ONE_LOOP template
#endif
#define NPU_ONE_LOOP_OF_TWO(F)                                                                 \
  NPU_ONE_LOOP void MapLines<F, float, float, float>(const F&, size_t, size_t, Pitched<float>, \
                                                     Pitched<float>, Pitched<float>);          \
  NPU_ONE_LOOP void MapLines<F, half, half, half>(const F&, size_t, size_t, Pitched<half>,     \
                                                  Pitched<half>, Pitched<half>);
NPU_ONE_LOOP_OF_TWO(npu::simd::Add)
NPU_ONE_LOOP_OF_TWO(npu::simd::Sub)
NPU_ONE_LOOP_OF_TWO(npu::simd::Mul)
NPU_ONE_LOOP_OF_TWO(npu::simd::Div)
NPU_ONE_LOOP_OF_TWO(npu::simd::Max)
NPU_ONE_LOOP_OF_TWO(npu::simd::Min)
#undef NPU_ONE_LOOP_OF_TWO
#undef NPU_ONE_LOOP
#endif

/// What an instruction computes of its tiles: the first rows and columns.
struct Computed {
  size_t rows;
  size_t cols;
};

/// Tile as an operand of F.
template <class F, class TileT>
inline auto PitchedOf(const TileT& tile) {
  using T = npu::simd::Taken<F, typename TileT::DType>;
  return Pitched<T>{reinterpret_cast<T*>(tile.data()), Order<TileT>::kLength};
}

/// dst[i, j] = f(src[i, j]...) over region, run by run.
template <class F, class Dst, class... Src>
inline void MapTiles(const F& f, Computed region, const Dst& dst, const Src&... src) {
  const size_t count = Order<Dst>::kLinesAreRows ? region.rows : region.cols;
  const size_t length = Order<Dst>::kLinesAreRows ? region.cols : region.rows;
  if constexpr (!Dst::isBoxedLayout) {
    static_assert(((!Src::isBoxedLayout && Src::isRowMajor == Dst::isRowMajor) && ...),
                  "expected tiles of one layout");
    MapLines(f, count, length, PitchedOf<F>(dst), PitchedOf<F>(src)...);
  } else {
    static_assert(((Src::BFractal == Dst::BFractal && Src::SFractal == Dst::SFractal &&
                    Order<Src>::kRun == Order<Dst>::kRun) &&
                   ...),
                  "expected tiles of one layout");
    for (size_t line = 0; line < count; ++line) {
      for (size_t at = 0; at < length; at += Order<Dst>::kRun) {
        npu::simd::Map(f, std::min(Order<Dst>::kRun, length - at),
                       PitchedOf<F>(dst).data + Order<Dst>::Offset(line, at),
                       PitchedOf<F>(src).data + Order<Src>::Offset(line, at)...);
      }
    }
  }
}

/// Elements of the valid region of a tile as work.
template <class TileT>
inline npu::Work ElementsOf(const TileT& tile) {
  const auto lines = LinesOf(tile);
  return {lines.count * lines.length, 0, 0};
}

/// True if some generation computes rule on elements of type T; double goes where float does.
template <class T>
constexpr bool IsComputed(TypeRule rule) {
  const uint32_t types = rule.a3 | rule.a5;
  return (kTypeBit<T> & types) != 0 || (std::is_same_v<T, double> && (types & kFloat) != 0);
}

/// Says which rule of an element-wise instruction its tiles, dst first, do not keep. With checks
/// off only those count without which nothing can be computed; then what all tiles have is the
/// region.
NPU_ONE_BODY(__attribute__((cold)) Computed ComputedOrFault(const npu::Core& core, const char* name,
                                                            uint32_t allowed, bool type_is_good,
                                                            const TileFacts* tiles, int count)) {
  constexpr const char* kNames[] = {"dst", "src0", "src1", "src2"};
  if (!type_is_good) RaiseType(core, name, allowed, tiles[0].kind->dtype);
  int rows = tiles[0].kind->rows, cols = tiles[0].kind->cols;
  for (int i = 0; i < count; ++i) {
    const TileFacts& tile = tiles[i];
    const char* operand = count == 2 && i == 1 ? "src" : kNames[i];
    if (!npu::IsPlace(tile.data) || (core.check_limits && !tile.ValidRegionFits()))
      RaiseTile(name, operand, tile);
    if (core.check_limits &&
        (tile.valid_rows != tiles[0].valid_rows || tile.valid_cols != tiles[0].valid_cols)) {
      RaiseValidShape(name, operand, tiles[0].valid_rows, tiles[0].valid_cols, tile.valid_rows,
                      tile.valid_cols);
    }
    rows = std::min({rows, tile.kind->rows, std::max(tile.valid_rows, 0)});
    cols = std::min({cols, tile.kind->cols, std::max(tile.valid_cols, 0)});
  }
  return {static_cast<size_t>(rows), static_cast<size_t>(cols)};
}

/// The region that an element-wise instruction computes; a fault unless the tiles are what it
/// takes. One condition, one cold call: kernels consist of these.
template <class Dst, class... Src>
inline Computed CheckTiles(const npu::Core& core, const char* name, uint32_t allowed,
                           bool type_is_good, const Dst& dst, const Src&... src) {
  static_assert(Dst::Loc == TileType::Vec && ((Src::Loc == TileType::Vec) && ...),
                "expected Vec tiles");
  const int rows = dst.GetValidRow(), cols = dst.GetValidCol();
  const auto fits = [&](const auto& tile) {
    using TileT = std::decay_t<decltype(tile)>;
    return npu::IsPlace(tile.data()) && tile.GetValidRow() == rows && tile.GetValidCol() == cols &&
           static_cast<unsigned>(rows) <= TileT::Rows && static_cast<unsigned>(cols) <= TileT::Cols;
  };
  if (__builtin_expect(type_is_good && fits(dst) && (fits(src) && ...), 1))
    return {static_cast<size_t>(rows), static_cast<size_t>(cols)};
  const TileFacts tiles[] = {TileFacts(dst), TileFacts(src)...};
  return ComputedOrFault(core, name, allowed, type_is_good, tiles, 1 + sizeof...(Src));
}

/// The same, and that the running SoC computes rule on elements of type T. kTakesAll: or that
/// they go through float.
template <class T, bool kTakesAll = false, class... Tiles>
inline Computed CheckElementwise(const npu::Core& core, const char* name, TypeRule rule,
                                 const Tiles&... tiles) {
  const uint32_t allowed = core.arch->generation == npu::Generation::kA3 ? rule.a3 : rule.a5;
  const bool type_is_good =
      (IsComputed<T>(rule) && ((kTypeBit<T> & allowed) != 0 || !core.check_limits ||
                               (std::is_same_v<T, double> && core.allow_float64))) ||
      ((IsComputed<T>(rule) || kTakesAll) && !std::is_same_v<T, double> &&
       npu::TakesHostForms(core));
  return CheckTiles(core, name, allowed, type_is_good, tiles...);
}

/// An element-wise instruction of pipe V on tiles of one element type.
template <const TypeRule& kRule, class F, class Dst, class... Src>
[[gnu::noinline]] void Elementwise(const char* name, F f, Dst& dst, Src&... src) {
  using T = typename Dst::DType;
  static_assert((std::is_same_v<T, typename Src::DType> && ...),
                "expected tiles of one element type");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst), Writes(dst), Reads(src)...);
  };
  npu::Issue(name, npu::Pipe::kV, call_site, operands, [&] {
    constexpr bool kThroughFloat = GoesThroughFloat<T>(kRule);
    const Computed region =
        CheckElementwise<T, kThroughFloat>(*npu::current_core, name, kRule, dst, src...);
    if constexpr (IsComputed<T>(kRule)) {
      MapTiles(f, region, dst, src...);
    } else if constexpr (kThroughFloat) {
      MapThroughFloat(f, region.rows, region.cols, dst, src...);
    }
  });
}

}  // namespace detail

/// dst[i, j] = src0[i, j] + src1[i, j], rounded once to the element type; integers wrap.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32;
///                    A5 also bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TADD.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TADD(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>("TADD", npu::simd::Add{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] - src1[i, j], rounded once to the element type; integers wrap.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32;
///                    A5 also bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TSUB.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TSUB(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>("TSUB", npu::simd::Sub{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] * src1[i, j], rounded once to the element type; integers wrap.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32;
///                    A5 also bfloat16 and the other integers of 16 bits and more.
/// Pipe V. Source: PTO ISA, TMUL.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TMUL(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kProduct>("TMUL", npu::simd::Mul{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] / src1[i, j], rounded once to the element type; integers towards zero,
/// and by zero to the nearest bound (0 / 0 = 0).
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float; A5 also
///                    integers of 16 bits and more.
/// Pipe V. Source: PTO ISA, TDIV.
template <auto kPrecision = DivAlgorithm::DEFAULT, class Dst, class Src0, class Src1,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TDIV(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kQuotient>("TDIV", npu::simd::Div{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = the greater of src0[i, j] and src1[i, j]; NaN if either is, src1's of two zeros.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32;
///                    A5 also bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TMAX.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TMAX(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>("TMAX", npu::simd::Max{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = the lesser of src0[i, j] and src1[i, j]; NaN if either is, src1's of two zeros.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32;
///                    A5 also bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TMIN.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TMIN(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>("TMIN", npu::simd::Min{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] & src1[i, j], the bits.
///   dst, src0, src1  Vec tiles of one dtype and valid shape, of 8, 16 or 32 bits
/// Pipe V. Source: PTO ISA, TAND.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TAND(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kAnyBits>("TAND", npu::simd::And{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] | src1[i, j], the bits.
///   dst, src0, src1  Vec tiles of one dtype and valid shape, of 8, 16 or 32 bits
/// Pipe V. Source: PTO ISA, TOR.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TOR(Dst& dst, Src0& src0, Src1& src1, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kAnyBits>("TOR", npu::simd::Or{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] ^ src1[i, j], the bits.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: any type of 8, 16 or 32 bits;
///                    A5 integers of these.
///   tmp              scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TXOR.
template <class Dst, class Src0, class Src1, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TXOR(Dst& dst, Src0& src0, Src1& src1, Tmp&,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kBitsOrInts>("TXOR", npu::simd::Xor{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] << src1[i, j]; a count of the width or more, or below 0, gives 0.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. Integers of 8, 16 and 32 bits; A5
///   also 64.
/// Pipe V. Source: PTO ISA, TSHL.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TSHL(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kShift>("TSHL", npu::simd::Shl{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] >> src1[i, j], filled with the sign of signed types; a count of the width
/// or more, or below 0, leaves the fill alone.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. Integers of 8, 16 and 32 bits; A5
///   also 64.
/// Pipe V. Source: PTO ISA, TSHR.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TSHR(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kShift>("TSHR", npu::simd::Shr{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
