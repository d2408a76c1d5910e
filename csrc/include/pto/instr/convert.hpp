// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "npu/simd_round.hpp"
#include "pto/cast_on_host.hpp"
#include "pto/check.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// Types that elements of a type (its bit) are converted to. Source: PTO ISA, TCVT.
constexpr TypeRule ConvertsTo(uint32_t src) {
  switch (src) {
    case kFloat: {
      constexpr uint32_t kTypes = kFloat | kHalf | kBfloat16 | kInt16 | kInt32 | kInt64;
      return {kTypes, kTypes};
    }
    case kHalf: {
      constexpr uint32_t kTypes = kFloat | kInt32 | kInt16 | kInt8 | kUint8;
      return {kTypes | kInt4, kTypes};
    }
    case kBfloat16:
      return {kFloat | kInt32, kFloat | kInt32 | kHalf};
    case kInt64:
      return {kFloat | kInt32, kFloat | kInt32};
    case kInt32:
      return {kFloat | kHalf | kInt16 | kInt64, kFloat | kInt16 | kUint16 | kInt64 | kUint8};
    case kUint32:
      return {0, kUint8 | kUint16 | kInt16};
    case kInt16:
      return {kHalf | kFloat, kHalf | kFloat | kUint8 | kInt32 | kUint32};
    case kInt8:
      return {kHalf, kHalf | kInt16 | kInt32};
    case kUint8:
      return {kHalf, kHalf | kUint16};
    case kInt4:
      return {kHalf, 0};
    default:
      return {0, 0};
  }
}

/// Whether any chip converts S to D.
template <class D, class S>
inline constexpr bool kIsConverted =
    ((ConvertsTo(kTypeBit<S>).a3 | ConvertsTo(kTypeBit<S>).a5) & kTypeBit<D>) != 0;

/// Pairs that keep the low bits unless a kernel asks for saturation. Source: PTO ISA, TCVT.
template <class D, class S>
inline constexpr bool kWrapsByDefault =
    !kIsConverted<D, S> ||
    (std::is_same_v<S, half> && (sizeof(D) == 1 || std::is_same_v<D, int16_t>) &&
     !std::is_same_v<D, int4b_t>) ||
    (std::is_same_v<D, int16_t> && (std::is_same_v<S, float> || std::is_same_v<S, int32_t>)) ||
    (std::is_same_v<D, int32_t> && std::is_same_v<S, int64_t>);

/// What a conversion is told.
struct Conversion {
  npu::simd::Rounding rounding;
  bool saturates;
  Computed region;
};

/// Elements of 4 bits, in pairs, with 8 bits each and back, a piece at a time.
inline constexpr size_t kPiece = 64;

inline void PackPairs(const int8_t* from, size_t count, uint8_t* to) {
  for (size_t i = 0; i < count; i += 2) {
    const int high = i + 1 < count ? from[i + 1] : 0;
    to[i / 2] = static_cast<uint8_t>((from[i] & 15) | (high & 15) << 4);
  }
}

inline void UnpackPairs(const uint8_t* from, size_t count, int8_t* to) {
  for (size_t i = 0; i < count; ++i) {
    const int bits = from[i / 2] >> (i % 2 * 4) & 15;
    to[i] = static_cast<int8_t>((bits ^ 8) - 8);
  }
}

template <class Dst, class Src>
void ConvertInt4(Conversion how, const Dst& dst, const Src& src) {
  static_assert(Dst::isRowMajor && Src::isRowMajor && !Dst::isBoxedLayout && !Src::isBoxedLayout,
                "TCVT: expected RowMajor tiles of int4");
  const auto to = LinesOf(dst);
  const auto from = LinesOf(src);
  int8_t piece[kPiece];
  for (size_t line = 0; line < how.region.rows; ++line) {
    for (size_t at = 0; at < how.region.cols; at += kPiece) {
      const size_t count = std::min(kPiece, how.region.cols - at);
      if constexpr (std::is_same_v<typename Dst::DType, int4b_t>) {
        npu::simd::MapInLanes(npu::simd::ToInt{how.rounding, how.saturates, -8.0f, 7.0f}, count,
                              piece, from(line, at));
        PackPairs(piece, count, &to(line, at / 2)->pair);
      } else {
        UnpackPairs(&from(line, at / 2)->pair, count, piece);
        npu::simd::MapInLanes(npu::simd::Identity{}, count, to(line, at), piece);
      }
    }
  }
}

/// dst = src where D is a float of any kind.
template <class Dst, class Src>
inline void ConvertToFloat(Conversion how, const Dst& dst, const Src& src) {
  using namespace npu::simd;
  using D = typename Dst::DType;
  using S = typename Src::DType;
  if constexpr (std::is_same_v<D, S>) {
    MapTiles(RoundToIntegral{how.rounding}, how.region, dst, src);
  } else if constexpr (kIsHalf<D>) {
    const float bound = how.saturates ? kLargest<D> : std::numeric_limits<float>::infinity();
    if (how.rounding != Rounding::kNearestEven) {
      MapTiles(NarrowTo<D>{how.rounding, bound}, how.region, dst, src);
    } else if (how.saturates || !kIsFloatLane<S>) {  // what works in lanes only takes integers, too
      MapTiles(npu::simd::Clamp{bound}, how.region, dst, src);
    } else {
      MapTiles(Identity{}, how.region, dst, src);
    }
  } else if constexpr (std::is_integral_v<S> && sizeof(S) >= 4) {
    MapTiles(IntToFloat{how.rounding}, how.region, dst, src);
  } else {
    MapTiles(Identity{}, how.region, dst, src);
  }
}

template <class Dst, class Src>
inline void ConvertTiles(Conversion how, const Dst& dst, const Src& src) {
  using namespace npu::simd;
  using D = typename Dst::DType;
  using S = typename Src::DType;
  if constexpr (std::is_same_v<D, int4b_t> || std::is_same_v<S, int4b_t>) {
    ConvertInt4(how, dst, src);
  } else if constexpr (kIsFloatLane<D>) {
    ConvertToFloat(how, dst, src);
  } else if constexpr (std::is_integral_v<S>) {
    MapTiles(IntToInt<D>{how.saturates}, how.region, dst, src);
  } else if constexpr (sizeof(D) == 8) {
    MapTiles(ToInt64{how.rounding}, how.region, dst, src);
  } else {
    MapTiles(ToInt::Of<D>(how.rounding, how.saturates), how.region, dst, src);
  }
}

/// Pairs that no chip converts, for programs for simulators.
template <class T>
inline constexpr bool kIsPlainNumber =
    (std::is_integral_v<T> && sizeof(T) <= 4) || npu::simd::kIsFloatLane<T>;
template <class D, class S>
inline constexpr bool kCastsOnHost = kIsPlainNumber<D> && kIsPlainNumber<S>;

inline double RoundedOnHost(npu::simd::Rounding rounding, double value) {
  using npu::simd::Rounding;
  switch (rounding) {
    case Rounding::kNearestAway:
      return __builtin_round(value);
    case Rounding::kDown:
      return __builtin_floor(value);
    case Rounding::kUp:
      return __builtin_ceil(value);
    case Rounding::kToZero:
      return __builtin_trunc(value);
    case Rounding::kToOdd: {
      const double low = __builtin_floor(value);
      const bool is_odd = __builtin_fmod(low, 2.0) != 0.0;
      return low == value || is_odd ? low : low + 1;
    }
    default:
      return __builtin_rint(value);
  }
}

/// Through double, which holds every number of these types: to floats to nearest even, to integers
/// as told.
template <class D, class S>
D ElementOnHost(Conversion how, S in) {
  if constexpr (npu::simd::kIsFloatLane<D>) {
    return CastOnHost<D>(in);
  } else {
    double value;
    if constexpr (std::is_integral_v<S>) {
      value = static_cast<double>(in);
    } else {
      value = RoundedOnHost(how.rounding, static_cast<double>(static_cast<float>(in)));
      if (value != value) value = 0;
    }
    const double low = how.saturates ? double{std::numeric_limits<D>::lowest()} : -0x1p62;
    const double high = how.saturates ? double{std::numeric_limits<D>::max()} : 0x1p62;
    return static_cast<D>(static_cast<int64_t>(std::clamp(value, low, high)));
  }
}

template <class Dst, class Src>
void ConvertOnHost(Conversion how, const Dst& dst, const Src& src) {
  for (size_t row = 0; row < how.region.rows; ++row) {
    for (size_t col = 0; col < how.region.cols; ++col)
      *ElementOf(dst, row, col) =
          ElementOnHost<typename Dst::DType>(how, *ElementOf(src, row, col));
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseConversion(const npu::Core& core, uint32_t allowed,
                                             const char* dst, const char* src, int mode)) {
  if (mode < 0 || mode > static_cast<int>(RoundMode::CAST_ODD))
    npu::RaiseFault("TCVT", "a round mode from CAST_NONE (0) to CAST_ODD (6)", npu::TextOf(mode));
  npu::RaiseFault("TCVT",
                  (allowed == 0 ? "another src than " + npu::Text(src)
                                : "dst of type " + TypeNames(allowed) + " from src of " + src) +
                      " on " + core.arch->soc,
                  dst);
}

/// The bytes of a tile that a conversion touches.
template <class TileT>
inline npu::AccessList ConversionAccess(const TileT& tile, bool is_write) {
  const TileFacts facts(tile);
  if (!std::is_same_v<typename TileT::DType, int4b_t>) return AccessOf(facts, is_write);
  return AccessOf(facts, {0, 0, facts.Lines(), (facts.Length() + 1) / 2}, is_write);
}

template <class Dst, class Src>
[[gnu::noinline]] void Convert(Dst& dst, Src& src, RoundMode mode, SaturationMode saturation) {
  using D = typename Dst::DType;
  using S = typename Src::DType;
  constexpr TypeRule kRule = ConvertsTo(kTypeBit<S>);
  constexpr bool kConverts = kIsConverted<D, S>;
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(src), ConversionAccess(dst, true), ConversionAccess(src, false));
  };
  npu::Issue("TCVT", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    const Computed region = CheckTiles(core, "TCVT", 0, true, dst, src);
    const uint32_t allowed = core.arch->generation == npu::Generation::kA3 ? kRule.a3 : kRule.a5;
    constexpr bool kOnHost = !kConverts && kForHost && kCastsOnHost<D, S>;
    const bool is_allowed =
        (allowed & kTypeBit<D>) != 0 || !core.check_limits || npu::TakesHostForms(core);
    if (!(kConverts || (kOnHost && npu::TakesHostForms(core))) || !is_allowed ||
        mode > RoundMode::CAST_ODD) {
      RaiseConversion(core, allowed, kTypeName<D>, kTypeName<S>, static_cast<int>(mode));
    }
    // CAST_NONE leaves it to the chip, which cuts on the way to integers.
    constexpr bool kCuts = npu::simd::kIsFloatLane<S> && !npu::simd::kIsFloatLane<D>;
    constexpr auto kUntold =
        kCuts ? npu::simd::Rounding::kToZero : npu::simd::Rounding::kNearestEven;
    const auto rounding = mode == RoundMode::CAST_NONE
                              ? kUntold
                              : static_cast<npu::simd::Rounding>(static_cast<int>(mode) - 1);
    const Conversion how = {rounding, saturation == SaturationMode::ON, region};
    if constexpr (kConverts) {
      ConvertTiles(how, dst, src);
    } else if constexpr (kOnHost) {
      ConvertOnHost(how, dst, src);
    }
  });
}

/// Saturation of a conversion that is not told.
template <class Dst, class Src>
inline constexpr SaturationMode kDefaultSaturation =
    kWrapsByDefault<typename Dst::DType, typename Src::DType> ? SaturationMode::OFF
                                                              : SaturationMode::ON;

/// Bytes of scratch that A2/A3 needs to keep low bits. Source: PTO ISA, TCVT.
inline size_t ScratchBytes(size_t src_bytes, size_t rows, size_t cols, size_t row_stride) {
  if (cols == 0 || rows == 0) return 0;
  if (src_bytes == 4) {
    const size_t tail = cols % 64;
    const size_t tail_bytes =
        32 * ((std::min<size_t>(rows, 255) - 1) * (row_stride / 8) + (tail + 7) / 8);
    return std::max(256 * std::min<size_t>(cols / 64, 255), tail == 0 ? 0 : tail_bytes);
  }
  const size_t piece = std::min<size_t>(cols, 64);
  return 32 * ((piece + 7) / 8);
}

NPU_ONE_BODY(NPU_RAISES void RaiseScratch(const char* op, size_t need, size_t got)) {
  npu::RaiseFault(op, "tmp of at least " + npu::TextOf(need) + " bytes",
                  npu::TextOf(got) + " bytes");
}

/// Faults unless tmp is large enough.
template <class Dst, class Src, class Tmp>
inline void CheckScratch(const Dst& dst, const Src&, const Tmp&, SaturationMode saturation) {
  using D = typename Dst::DType;
  using S = typename Src::DType;
  if constexpr (kWrapsByDefault<D, S> && npu::simd::kIsFloatLane<S> && std::is_signed_v<D>) {
    const npu::NextInstruction next("TCVT");
    const npu::Core& core = *npu::current_core;
    if (saturation == SaturationMode::ON || !core.check_limits ||
        core.arch->generation != npu::Generation::kA3)
      return;
    constexpr size_t kBytes = Tmp::Numel * sizeof(typename Tmp::DType);
    const auto lines = LinesOf(dst);
    const size_t need = ScratchBytes(sizeof(S), lines.count, lines.length, Src::RowStride);
    if (kBytes < need) RaiseScratch("TCVT", need, kBytes);
  }
}

}  // namespace detail

/// dst[i, j] = src[i, j] in the type of dst.
///   dst, src    Vec tiles of one valid shape
///     A2/A3     float to half, float (rounds to integers), bfloat16, int16, int32, int64;
///               half to float, int32, int16, int8, uint8, int4; bfloat16 to float, int32;
///               int64 to float, int32; int32 to float, half, int16, int64; int16 to half, float;
///               int8, uint8, int4 to half
///     A5        without int4 and int32 to half; also bfloat16 to half; int32 to uint16, uint8;
///               uint32 to uint8, uint16, int16; int16 to uint8, int32, uint32; int8 to int16,
///               int32; uint8 to uint16
///   mode        rounding; CAST_NONE: towards zero from floats to integers, else to nearest even;
///               CAST_ODD: von Neumann
///   saturation  ON: what is beyond the range of dst becomes its nearest finite value. OFF:
///   integers
///               keep the low bits of the 64-bit integer that src is rounded to, floats become
///               infinite. NaN becomes 0 in integers
/// The template argument is taken as on the chip, where it says who sets the control register.
/// Pipe V. Source: PTO ISA, TCVT.
template <bool kSetsControl = true, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode,
                                               SaturationMode saturation, Events&... events) {
  (events.Wait(), ...);
  detail::Convert(dst, src, mode, saturation);
  npu::KeepCallSite();
  return {};
}

/// The same with the saturation of A2/A3 for the pair of types: OFF for half to int8, uint8 and
/// int16, float and int32 to int16, int64 to int32, else ON.
template <bool kSetsControl = true, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Convert(dst, src, mode, detail::kDefaultSaturation<Dst, Src>);
  npu::KeepCallSite();
  return {};
}

/// The same with a scratch tile that A2/A3 needs to keep low bits. It is not touched here, but must
/// have the bytes that the chip needs.
template <bool kSetsControl = true, class Dst, class Src, class Tmp, class... Events,
          class = typename Tmp::TileDType>
[[gnu::always_inline]] inline RecordEvent TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode,
                                               SaturationMode saturation, Events&... events) {
  (events.Wait(), ...);
  detail::CheckScratch(dst, src, tmp, saturation);
  detail::Convert(dst, src, mode, saturation);
  npu::KeepCallSite();
  return {};
}

template <bool kSetsControl = true, class Dst, class Src, class Tmp, class... Events,
          class = typename Tmp::TileDType>
[[gnu::always_inline]] inline RecordEvent TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::CheckScratch(dst, src, tmp, detail::kDefaultSaturation<Dst, Src>);
  detail::Convert(dst, src, mode, detail::kDefaultSaturation<Dst, Src>);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
