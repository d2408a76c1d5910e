// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/simd_math.hpp"
#include "npu/simd_ops.hpp"
#include "pto/instr/scalar.hpp"

namespace pto {

/// Precisions that a kernel asks for as first template argument; the results here are the same.
enum class ExpAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class LogAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class SqrtAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RsqrtAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RecipAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };

namespace detail {

inline constexpr TypeRule kSigned = {kHalf | kFloat, kInt8 | kInt16 | kInt32 | kHalf | kFloat};
inline constexpr TypeRule kNegatable = {kInt16 | kInt32 | kHalf | kFloat,
                                        kInt8 | kInt16 | kInt32 | kHalf | kBfloat16 | kFloat};
inline constexpr TypeRule kRectifiable = {kInt32 | kHalf | kFloat, kInt32 | kHalf | kFloat};

}  // namespace detail

/// dst[i, j] = |src[i, j]|; the least integer stays.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float; A5 also int8, int16,
///   int32.
/// Pipe V. Source: PTO ISA, TABS.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TABS(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kSigned>("TABS", npu::simd::Abs{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = -src[i, j]; the least integer stays.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32; A5 also
///             bfloat16, int8.
/// Pipe V. Source: PTO ISA, TNEG.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TNEG(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kNegatable>("TNEG", npu::simd::Neg{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = ~src[i, j], the bits.
///   dst, src  Vec tiles of one dtype and valid shape. A2/A3: any type of 8, 16 or 32 bits; A5
///             integers of these.
/// Pipe V. Source: PTO ISA, TNOT.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TNOT(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kBitsOrInts>("TNOT", npu::simd::Not{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = max(src[i, j], 0); NaN stays, -0.0 becomes 0.0.
///   dst, src  Vec tiles of one dtype and valid shape. half, float, int32.
/// Pipe V. Source: PTO ISA, TRELU.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TRELU(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kRectifiable>("TRELU", npu::simd::Relu{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = e to the power of src[i, j], within 1 ulp.
///   dst, src  Vec tiles of one dtype and valid shape. half, float.
/// Pipe V. Source: PTO ISA, TEXP.
template <auto kPrecision = ExpAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXP(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TEXP", npu::simd::Exp{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = natural logarithm of src[i, j], within 1 ulp.
///   dst, src  Vec tiles of one dtype and valid shape. half, float.
/// Pipe V. Source: PTO ISA, TLOG.
template <auto kPrecision = LogAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TLOG(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TLOG", npu::simd::Log{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = square root of src[i, j], rounded once.
///   dst, src  Vec tiles of one dtype and valid shape. half, float.
/// Pipe V. Source: PTO ISA, TSQRT.
template <auto kPrecision = SqrtAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TSQRT(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TSQRT", npu::simd::Sqrt{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = 1 / sqrt(src[i, j]), within 1 ulp of the rounded result.
///   dst, src  Vec tiles of half or float with one valid shape
/// Pipe V. Source: PTO ISA, TRSQRT.
template <auto kPrecision = RsqrtAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TRSQRT(Dst& dst, Src& src, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TRSQRT", npu::simd::Rsqrt{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// The same with a scratch tile, which is not touched here.
template <auto kPrecision = RsqrtAlgorithm::DEFAULT, class Dst, class Src, class Tmp,
          class... Events, class = typename Tmp::TileDType>
[[gnu::always_inline]] inline RecordEvent TRSQRT(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TRSQRT", npu::simd::Rsqrt{}, dst, src);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = 1 / src[i, j], as TDIVS.
///   dst, src  Vec tiles of one dtype and valid shape, types as for TDIVS
/// Pipe V. Source: PTO ISA, TRECIP.
template <auto kPrecision = RecipAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TRECIP(Dst& dst, Src& src, Events&... events) {
  using C = npu::simd::Compute<typename Src::DType>;
  (events.Wait(), ...);
  detail::Elementwise<detail::kScalarQuotient>(
      "TRECIP", npu::simd::WithFirst<npu::simd::Div, C>{C{1}}, dst, src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
