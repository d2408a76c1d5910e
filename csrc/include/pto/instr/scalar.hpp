// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/simd_fused.hpp"
#include "npu/simd_ops.hpp"
#include "pto/conv_tile.hpp"
#include "pto/instr/elementwise.hpp"

namespace pto {

namespace detail {

inline constexpr TypeRule kScalarQuotient = {kInt16 | kInt32 | kHalf | kFloat,
                                             (kAllInts & ~(kInt8 | kUint8)) | kHalf | kFloat};
inline constexpr TypeRule kScalarShift = {kInt16 | kUint16 | kInt32 | kUint32, kAllInts};
inline constexpr TypeRule kHalfOrFloat = {kHalf | kFloat, kHalf | kFloat};
inline constexpr TypeRule kFillable = {kInts8To32 | kHalf | kBfloat16 | kFloat,
                                       kAllInts | kHalf | kBfloat16 | kFloat};

/// Type of a scalar that elements of T meet.
template <class T, const TypeRule& kRule>
using ScalarOf =
    std::conditional_t<GoesThroughFloat<T>(kRule), ThroughFloat<T>, npu::simd::Compute<T>>;

/// An element-wise instruction Op(src, scalar). The scalar has the type of the elements, in which
/// it is computed.
template <const TypeRule& kRule, class Op, class Dst, class Src, class Scalar>
[[gnu::always_inline]] inline void WithScalar(const char* name, Dst& dst, Src& src, Scalar scalar) {
  using C = ScalarOf<typename Src::DType, kRule>;
  Elementwise<kRule>(name, npu::simd::WithSecond<Op, C>{static_cast<C>(scalar)}, dst, src);
}

NPU_ONE_BODY(NPU_RAISES void RaiseShift(const char* name, int64_t count)) {
  const npu::NextInstruction next(name);
  npu::RaiseFault(name, "a shift of 0 bits or more", npu::TextOf(count));
}

template <class Scalar>
inline void CheckShift(const char* name, Scalar count) {
  if (std::is_signed_v<Scalar> && __builtin_expect(count < Scalar{0}, 0))
    RaiseShift(name, static_cast<int64_t>(count));
}

template <class Dst, class Src>
[[gnu::noinline]] void AddScaled(Dst& dst, Src& src,
                                 npu::simd::Compute<typename Src::DType> scalar) {
  using T = typename Dst::DType;
  constexpr bool kOneType = std::is_same_v<T, typename Src::DType>;
  static_assert(kOneType || (std::is_same_v<T, float> && std::is_same_v<typename Src::DType, half>),
                "TAXPY: expected tiles of one element type, or src of half and dst of float");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst), Writes(dst), Reads(dst), Reads(src));
  };
  npu::Issue("TAXPY", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    const bool is_fused = core.arch->generation != npu::Generation::kA3;
    const Computed region = CheckElementwise<T>(core, "TAXPY", kHalfOrFloat, dst, src);
    if constexpr (IsComputed<T>(kHalfOrFloat))
      MapTiles(npu::simd::Axpy<T, decltype(scalar)>{scalar, is_fused}, region, dst, dst, src);
  });
}

/// Fills a Mat tile, all of it, or a ConvTile.
template <class Dst>
[[gnu::noinline]] void FillMat(Dst& dst, typename Dst::DType scalar) {
  using T = typename Dst::DType;
  const void* call_site = __builtin_return_address(0);
  const auto fill = [&](const TileFacts& tile, size_t elements) {
    const size_t bytes = elements * sizeof(T);
    const auto operands = [&](auto report) {
      report(npu::Work{elements, 0, 0},
             npu::Access{SpaceOf(Dst::Loc), true, dst.data(), 1, bytes, bytes});
    };
    npu::Issue("TEXPANDS", npu::Pipe::kMte2, call_site, operands, [&] {
      const npu::Core& core = *npu::current_core;
      CheckType<T>(core, "TEXPANDS", kFillable);
      CheckTile(core, "TEXPANDS", "dst", tile);
      npu::simd::Map(npu::simd::Constant<T>{scalar}, elements, dst.data());
    });
  };
  if constexpr (is_conv_tile_v<Dst>) {
    const ConvFacts conv(dst);
    fill(conv.Tile(), static_cast<size_t>(conv.Elements()));
  } else {
    fill(TileFacts(dst), Dst::Numel);
  }
}

}  // namespace detail

/// dst[i, j] = src[i, j] + scalar, rounded once to the element type; integers wrap.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TADDS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TADDS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kArithmetic, npu::simd::Add>("TADDS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] - scalar, rounded once to the element type; integers wrap.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TSUBS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TSUBS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kArithmetic, npu::simd::Sub>("TSUBS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] * scalar, rounded once to the element type; integers wrap.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             bfloat16 and the other integers of 16 bits and more.
/// Pipe V. Source: PTO ISA, TMULS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TMULS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kProduct, npu::simd::Mul>("TMULS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] / scalar, rounded once to the element type; integers towards zero, and by
/// zero to the nearest bound (0 / 0 = 0).
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             the other integers of 16 bits and more.
/// Pipe V. Source: PTO ISA, TDIVS.
template <auto kPrecision = DivAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TDIVS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kScalarQuotient, npu::simd::Div>("TDIVS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = scalar / src[i, j], as above.
template <auto kPrecision = DivAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TDIVS(Dst& dst, typename Dst::DType scalar, Src& src,
                                                Events&... events) {
  using C = npu::simd::Compute<typename Src::DType>;
  (events.Wait(), ...);
  detail::Elementwise<detail::kScalarQuotient>(
      "TDIVS", npu::simd::WithFirst<npu::simd::Div, C>{static_cast<C>(scalar)}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = the greater of src[i, j] and scalar; NaN if either is, scalar of two zeros.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TMAXS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TMAXS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kArithmetic, npu::simd::Max>("TMAXS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = the lesser of src[i, j] and scalar; NaN if either is, scalar of two zeros.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TMINS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TMINS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kArithmetic, npu::simd::Min>("TMINS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] & scalar.
///   dst, src  Vec tiles of one dtype and valid shape. Integers of 8, 16 and 32 bits.
/// Pipe V. Source: PTO ISA, TANDS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TANDS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kBitwise, npu::simd::And>("TANDS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] | scalar.
///   dst, src  Vec tiles of one dtype and valid shape. Integers of 8, 16 and 32 bits.
/// Pipe V. Source: PTO ISA, TORS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TORS(Dst& dst, Src& src, typename Src::DType scalar,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kBitwise, npu::simd::Or>("TORS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] ^ scalar.
///   dst, src  Vec tiles of one dtype and valid shape. Integers of 8, 16 and 32 bits.
///   tmp       scratch tile that the chip needs; not touched here
/// Pipe V. Source: PTO ISA, TXORS.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TXORS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::WithScalar<detail::kBitwise, npu::simd::Xor>("TXORS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] << scalar; 0 for the width or more.
///   dst, src  Vec tiles of one dtype and valid shape. int16, uint16, int32, uint32; A5 all
///             integers.
///   scalar    0 or more
/// Pipe V. Source: PTO ISA, TSHLS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TSHLS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::CheckShift("TSHLS", scalar);
  detail::WithScalar<detail::kScalarShift, npu::simd::Shl>("TSHLS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] >> scalar, filled with the sign of signed types.
///   dst, src  Vec tiles of one dtype and valid shape. int16, uint16, int32, uint32; A5 all
///             integers.
///   scalar    0 or more
/// Pipe V. Source: PTO ISA, TSHRS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TSHRS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::CheckShift("TSHRS", scalar);
  detail::WithScalar<detail::kScalarShift, npu::simd::Shr>("TSHRS", dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] > 0 ? src[i, j] : src[i, j] * scalar.
///   dst, src  Vec tiles of half or float with one valid shape
/// Pipe V. Source: PTO ISA, TLRELU.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TLRELU(Dst& dst, Src& src, typename Src::DType scalar,
                                                 Events&... events) {
  using C = detail::ScalarOf<typename Src::DType, detail::kHalfOrFloat>;
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>(
      "TLRELU", npu::simd::LeakyRelu<C>{static_cast<C>(scalar)}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = dst[i, j] + scalar * src[i, j], product and sum each rounded to the type of dst; on
/// A5 the product is not rounded.
///   dst, src  Vec tiles with one valid shape, both of half or of float, or src of half and dst of
///             float
/// Pipe V. Source: PTO ISA, TAXPY.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TAXPY(Dst& dst, Src& src, typename Src::DType scalar,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::AddScaled(dst, src, static_cast<npu::simd::Compute<typename Src::DType>>(scalar));
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = scalar over the valid region of a Vec tile, over all of a Mat tile.
///   dst  Vec or Mat tile, or ConvTile of kind Mat, of 8, 16 or 32-bit elements; A5 also 64
/// Pipe V, of a Mat tile MTE2. Source: PTO ISA, TEXPANDS.
template <class Dst, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXPANDS(Dst& dst, typename Dst::DType scalar,
                                                   Events&... events) {
  (events.Wait(), ...);
  if (detail::IsOfCubeCore<Dst>()) return {};
  if constexpr (Dst::Loc == TileType::Mat) {
    detail::FillMat(dst, scalar);
  } else {
    detail::Elementwise<detail::kFillable>("TEXPANDS",
                                           npu::simd::Constant<typename Dst::DType>{scalar}, dst);
  }
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
