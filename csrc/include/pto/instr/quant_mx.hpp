// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/float8.hpp"
#include "pto/instr/quant.hpp"
#include "pto/instr/quant_mx_shape.hpp"

namespace pto {

namespace detail {

/// What the groups of a quantization share: an exponent, 2^(exponent - 127), and its reciprocal as
/// a float.
struct MxScale {
  uint8_t exponent;
  float factor;
};

inline uint32_t BitsOfFloat(float value) { return __builtin_bit_cast(uint32_t, value); }

/// The scale of microscaling (OCP): that of a group whose largest number has the exponent of the
/// largest power of two of the small format, 2^largest.
inline MxScale OcpScale(float most, uint32_t largest) {
  const uint32_t exponent = BitsOfFloat(most) >> 23 & 0xff;
  if (most != most) return {0xff, __builtin_nanf("")};
  const uint32_t shared = exponent <= largest ? 0 : exponent - largest;
  return {static_cast<uint8_t>(shared), __builtin_bit_cast(float, (254 - shared) << 23)};
}

/// The scale that brings the largest number of a group to at most bound: its exponent rounded up.
inline MxScale BoundScale(float most, float bound) {
  const float least = 0x1p-127f, greatest = 0x1p127f;  // factors
  if (most == 0.0f) return {0, greatest};
  const float descale = most * (1.0f / bound);
  const uint32_t exponent = BitsOfFloat(descale) >> 23 & 0xff,
                 mantissa = BitsOfFloat(descale) & 0x7fffff;
  if (exponent == 0xff) return mantissa == 0 ? MxScale{0xfe, least} : MxScale{0xff, descale};
  const bool exact = mantissa == 0 || exponent == 0xfe || (exponent == 0 && mantissa <= 0x400000);
  const uint32_t shared = exponent + (exact ? 0 : 1);
  if (shared == 0) return {0, greatest};
  if (shared == 0xfe) return {0xfe, least};
  return {static_cast<uint8_t>(shared), __builtin_bit_cast(float, (254 - shared) << 23)};
}

/// How a kind of quantization makes its scales and elements.
template <bool kFp4, bool kBound>
struct MxRule {
  static MxScale Scale(float most) {
    return kBound ? BoundScale(most, kFp4 ? 6.0f : 448.0f) : OcpScale(most, kFp4 ? 2 : 8);
  }
  /// The code of a scaled element: E2M1, or E4M3 held to 448.
  static uint8_t Encode(float value) {
    if (kFp4) return value != value ? 7 : npu::EncodeSmall(npu::kE2m1Format, value);
    const float held = value > 448.0f ? 448.0f : value < -448.0f ? -448.0f : value;
    return npu::EncodeSmall(npu::kE4m3Format, held);
  }
};

/// The magnitude of an element as the search for the largest one sees it: of half cut to bfloat16,
/// but where scales are bounded.
template <bool kBound, class T>
inline float MagnitudeOf(T value) {
  const float magnitude = __builtin_fabsf(static_cast<float>(value));
  if (!std::is_same_v<T, half> || kBound || magnitude != magnitude) return magnitude;
  return __builtin_bit_cast(float, BitsOfFloat(magnitude) & 0xffff0000);
}

/// The greater of two magnitudes, NaN above all.
inline float GreaterMagnitude(float a, float b) {
  if (a != a) return a;
  return b > a || b != b ? b : a;
}

/// Bits of a number as bfloat16 or float, whichever T has room for; of half where a magnitude was
/// not cut.
template <bool kBound, class T>
inline void PutNumber(T* to, float value, bool is_magnitude) {
  if constexpr (std::is_same_v<T, half>) {
    if (kBound && is_magnitude) {
      *to = static_cast<half>(value);
      return;
    }
  }
  if constexpr (sizeof(T) == 2) {
    const auto bits = static_cast<uint16_t>(BitsOfFloat(value) >> 16);
    std::memcpy(static_cast<void*>(to), &bits, sizeof(bits));
  } else {
    *to = value;
  }
}

/// A product of an element and a factor as the chip rounds it: bfloat16 to bfloat16.
template <class T>
inline float ScaledElement(T value, float factor) {
  const float product = static_cast<float>(value) * factor;
  return std::is_same_v<T, bfloat16_t> ? static_cast<float>(bfloat16_t(product)) : product;
}

template <bool kFp4>
inline void PutCode(uint8_t* dst, size_t pitch, size_t row, size_t col, uint8_t code) {
  if (!kFp4) {
    dst[row * pitch + col] = code;
    return;
  }
  uint8_t& pair = dst[(row * pitch + col) / 2];
  pair = static_cast<uint8_t>(col % 2 == 0 ? (pair & 0xf0) | code : (pair & 0x0f) | code << 4);
}

/// One group: along a row, or down a column.
template <bool kFp4, bool kBound, bool kDown, class T, class Max, class Scaling>
inline void QuantizeGroup(const T* src, size_t src_pitch, uint8_t* dst, size_t dst_pitch,
                          uint8_t* exp, Max* max, Scaling* scaling, const MxGroup& group) {
  using Rule = MxRule<kFp4, kBound>;
  const size_t step = kDown ? src_pitch : 1;
  const T* in = src + group.row * src_pitch + group.col;
  float most = 0.0f;
  for (size_t i = 0; i < group.count; ++i)
    most = GreaterMagnitude(most, MagnitudeOf<kBound>(in[i * step]));
  const MxScale scale = Rule::Scale(most);
  exp[group.exponent] = scale.exponent;
  PutNumber<kBound>(max + group.number, most, true);
  PutNumber<kBound>(scaling + group.number, scale.factor, false);
  const size_t written = kDown ? group.count : kMxGroup;  // the rest of a row's group is 0
  for (size_t i = 0; i < written; ++i) {
    const float value = i < group.count ? ScaledElement(in[i * step], scale.factor) : 0.0f;
    const uint8_t code = Rule::Encode(value);
    PutCode<kFp4>(dst, dst_pitch, group.row + (kDown ? i : 0), group.col + (kDown ? 0 : i), code);
  }
}

/// Elements of a tile of numbers: of the type of src, or float for programs for simulators.
template <class T, class TileT>
inline auto* NumbersOf(const TileT& tile) {
  using Number = typename TileT::DType;
  using Stored = std::conditional_t<sizeof(Number) == sizeof(T), T, Number>;
  return reinterpret_cast<Stored*>(tile.data());
}

/// boxed = the exponents of whole boxes of 16 rows and 2 groups, box after box along the rows.
template <class Exp>
inline void BoxExponents(const Exp& boxed, const Exp& exp, const MxShape& shape) {
  constexpr size_t kRows = 16, kGroups = 2;
  const auto* from = reinterpret_cast<const uint8_t*>(exp.data());
  auto* to = reinterpret_cast<uint8_t*>(boxed.data());
  if (shape.rows % kRows != 0 || shape.groups % kGroups != 0) {
    npu::RaiseFault(
        "TQUANT", "groups in whole boxes of 16x2 for VecStoreMode::NZ",
        TileFacts::Extent(static_cast<int64_t>(shape.rows), static_cast<int64_t>(shape.groups)));
  }
  for (size_t row = 0; row < shape.rows; ++row) {
    for (size_t at = 0; at < shape.groups; ++at) {
      const size_t box = row / kRows * (shape.groups / kGroups) + at / kGroups;
      to[(box * kRows + row % kRows) * kGroups + at % kGroups] =
          from[shape.Of(false, row, at).exponent];
    }
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseRoom(const char* operand, size_t expected, size_t got)) {
  npu::RaiseFault("TQUANT",
                  npu::Text(operand) + " of at least " +
                      npu::TextOf(static_cast<int64_t>(expected)) + " elements",
                  npu::TextOf(static_cast<int64_t>(got)));
}

template <class TileT>
inline void CheckRoom(const npu::Core& core, const char* operand, const TileT* tile, size_t count) {
  if (tile == nullptr) RaiseRoom(operand, count, 0);
  CheckTile(core, "TQUANT", operand, *tile);
  constexpr auto kRoom = static_cast<size_t>(TileT::Numel);
  if (kRoom < count) RaiseRoom(operand, count, kRoom);
}

template <bool kFp4, bool kBound, bool kDown, class Dst, class Src, class Exp, class Max,
          class Scaling>
[[gnu::noinline]] void QuantizeGroups(Dst& dst, Src& src, Exp* exp, Max* max, Scaling* scaling,
                                      bool interleaves, Exp* boxed = nullptr) {
  using T = typename Src::DType;
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    const MxShape shape = MxShapeOf<kDown, Exp>(src, interleaves);
    const auto number = [](const MxGroup& group) { return group.number; };
    const auto exponent = [](const MxGroup& group) { return group.exponent; };
    const size_t count = boxed == nullptr ? 0 : shape.rows * shape.groups;
    report(
        ElementsOf(src),
        CodesPart<kFp4, kDown>(dst, shape, PitchOfCodes<kFp4, kDown, Dst, Src>(), false),
        CodesPart<kFp4, kDown>(dst, shape, PitchOfCodes<kFp4, kDown, Dst, Src>(), true),
        ScalesPart<kDown>(exp, shape, exponent), ScalesPart<kDown>(max, shape, number),
        ScalesPart<kDown>(scaling, shape, number),
        npu::Access{npu::Space::kUb, true, count == 0 ? nullptr : boxed->data(), 1, count, count},
        Reads(src));
  };
  npu::Issue("TQUANT", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckIsA5(core, "TQUANT");
    CheckTile(core, "TQUANT", "dst", dst);
    CheckTile(core, "TQUANT", "src", src);
    const auto from = LinesOf(src);
    constexpr size_t kPitch = Src::Cols, kDstPitch = PitchOfCodes<kFp4, kDown, Dst, Src>();
    const MxShape shape = MxShapeOf<kDown, Exp>(src, interleaves);
    const size_t groups = shape.groups, lines = kDown ? from.length : from.count;
    if (lines == 0 || groups == 0) return;
    const MxGroup last = shape.Of(kDown, lines - 1, groups - 1);
    const MxGroup before = groups > 1 ? shape.Of(kDown, lines - 1, groups - 2) : last;
    CheckRoom(core, "exp", exp, std::max(last.exponent, before.exponent) + 1);
    CheckRoom(core, "max", max, last.number + 1);
    CheckRoom(core, "scaling", scaling, last.number + 1);
    const size_t codes = (from.count - 1) * kDstPitch + (kDown ? from.length : groups * kMxGroup);
    const size_t bytes = kFp4 ? (codes + 1) / 2 : codes;
    CheckRoom(core, "dst", &dst, bytes * kPacked<typename Dst::DType>);
    for (size_t line = 0; line < lines; ++line) {
      for (size_t at = 0; at < groups; ++at) {
        QuantizeGroup<kFp4, kBound, kDown>(
            static_cast<const T*>(src.data()), kPitch, reinterpret_cast<uint8_t*>(dst.data()),
            kDstPitch, reinterpret_cast<uint8_t*>(exp->data()), NumbersOf<T>(*max),
            NumbersOf<T>(*scaling), shape.Of(kDown, line, at));
      }
    }
    if (boxed == nullptr) return;
    CheckRoom(core, "exp_zz", boxed, lines * groups);
    BoxExponents(*boxed, *exp, shape);
  });
}

template <bool kFp4, class Dst, class Src, class Exp, class Max, class Scaling>
constexpr void CheckMxTypes() {
  using T = typename Src::DType;
  constexpr bool kShort = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;
  static_assert(kShort || (!kFp4 && std::is_same_v<T, float>),
                "TQUANT: expected a src of half or bfloat16, for 8 bits also of float");
  static_assert(sizeof(typename Dst::DType) == 1 && sizeof(typename Exp::DType) == 1,
                "TQUANT: expected dst and exp of 8-bit elements");
  constexpr auto kHolds = [](auto* number) {
    using Number = std::remove_pointer_t<decltype(number)>;
    return sizeof(Number) == sizeof(T) || (kForHost && std::is_same_v<Number, float>);
  };
  static_assert(kHolds(static_cast<typename Max::DType*>(nullptr)) &&
                    kHolds(static_cast<typename Scaling::DType*>(nullptr)),
                "TQUANT: expected max and scaling of the element size of src");
  static_assert(kIsPlainVec<Dst> && kIsPlainVec<Src> && kIsPlainVec<Exp> && kIsPlainVec<Max> &&
                    kIsPlainVec<Scaling> && Src::Cols % kMxGroup == 0,
                "TQUANT: expected RowMajor Vec tiles, src with columns of a multiple of 32");
}

}  // namespace detail

/// Microscaling: each 32 elements of a row of src (groups down the columns: see below) share a
/// scale, a power of two. exp = its exponent plus 127, scaling = its reciprocal, max = the largest
/// magnitude; dst = round(src * scaling), ties to even, held to the range.
///   kType    MXFP8: E4M3; MXFP4_E2M1: pairs of E2M1, packed without regard to the columns of dst
///   kScale   OCP: the exponent of max less 8 (E2M1: less 2), NaN if the group holds one; NV: that
///            of max / 448 (6), rounded up
///   dst      Vec RowMajor tile of 8-bit elements; row i begins at element i times the columns of
///            src
///   src      Vec RowMajor tile of half or bfloat16, for MXFP8 also float; columns that are not
///            valid count as 0
///   exp      Vec tile of 8-bit elements: a row for each of src, or all groups in one row
///   max, scaling  Vec tiles of the element size of src, all groups packed. Of 16 bits scaling is
///            bfloat16, and so is max, but for half with NV
/// On A5 alone. Pipe V. Source: PTO ISA, TQUANT.
template <auto kType, class Dst, class Src, class Exp, class Max, class Scaling,
          auto kScale = QuantScaleAlg::OCP, class... Events>
[[gnu::always_inline]] inline RecordEvent TQUANT(Dst& dst, Src& src, Exp* exp, Max* max,
                                                 Scaling* scaling, Events&... events) {
  constexpr bool kFp4 = kType == QuantType::MXFP4_E2M1;
  static_assert(kFp4 || kType == QuantType::MXFP8, "TQUANT: expected MXFP8 or MXFP4_E2M1");
  detail::CheckMxTypes<kFp4, Dst, Src, Exp, Max, Scaling>();
  (events.Wait(), ...);
  detail::QuantizeGroups<kFp4, kScale == QuantScaleAlg::NV, false>(dst, src, exp, max, scaling,
                                                                   false);
  npu::KeepCallSite();
  return {};
}

#ifdef __CPU_SIM
/// The same with the exponents in boxes of 16 rows and 2 groups besides, in exp_zz; in programs for
/// simulators alone.
template <auto kType, auto kMode, class Dst, class Src, class Exp, class Max, class Scaling,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TQUANT(Dst& dst, Src& src, Exp* exp, Max* max,
                                                 Scaling* scaling, Exp* exp_zz, Events&... events) {
  static_assert(kType == QuantType::MXFP8 && kMode == VecStoreMode::NZ,
                "TQUANT: expected MXFP8 and NZ with exponents in boxes");
  detail::CheckMxTypes<false, Dst, Src, Exp, Max, Scaling>();
  (events.Wait(), ...);
  detail::QuantizeGroups<false, false, false>(dst, src, exp, max, scaling, false, exp_zz);
  npu::KeepCallSite();
  return {};
}
#endif

/// The same with the format and the scale in one. kAxis 1: groups along rows; 0: down columns.
/// There exp, max and scaling have a row for each 32 rows of src; with kInterleave exp has one for
/// each 64, in which the exponents of both groups of a column stand side by side.
template <int kAxis, auto kAlgorithm, bool kInterleave, class Dst, class Src, class Exp, class Max,
          class Scaling, class... Events>
[[gnu::always_inline]] inline RecordEvent TQUANT(Dst& dst, Src& src, Exp* exp, Max* max,
                                                 Scaling* scaling, Events&... events) {
  static_assert(kAlgorithm <= MxQuantAlg::NvMxFp4E2M1, "TQUANT: expected E4M3 or E2M1");
  static_assert(kAxis == 0 || (kAxis == 1 && !kInterleave),
                "TQUANT: expected axis 0, or 1 without interleaving");
  constexpr bool kFp4 = kAlgorithm >= MxQuantAlg::OcpMxFp4E2M1;
  constexpr bool kBound =
      kAlgorithm == MxQuantAlg::NvMxFp8E4M3 || kAlgorithm == MxQuantAlg::NvMxFp4E2M1;
  detail::CheckMxTypes<kFp4, Dst, Src, Exp, Max, Scaling>();
  (events.Wait(), ...);
  detail::QuantizeGroups<kFp4, kBound, kAxis == 0>(dst, src, exp, max, scaling, kInterleave);
  npu::KeepCallSite();
  return {};
}
template <int kAxis, auto kAlgorithm, class Dst, class Src, class Exp, class Max, class Scaling,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TQUANT(Dst& dst, Src& src, Exp* exp, Max* max,
                                                 Scaling* scaling, Events&... events) {
  return TQUANT<kAxis, kAlgorithm, false>(dst, src, exp, max, scaling, events...);
}

}  // namespace pto
