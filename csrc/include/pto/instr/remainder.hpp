// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/simd_remainder.hpp"
#include "pto/instr/scalar.hpp"

namespace pto {

/// Precisions that a kernel asks for as first template argument. HIGH_PRECISION: float on A5 is
/// computed as if no step were rounded.
enum class RemAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class RemSAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class FmodAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };
enum class FmodSAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };

namespace detail {

inline constexpr TypeRule kFlooredRemainder = {kInt32 | kFloat,
                                               kInts16And32 | kInt64 | kUint64 | kHalf | kFloat};
inline constexpr TypeRule kTruncatedRemainder = {kFloat, kInts16And32 | kHalf | kFloat};

/// The remainder of the running SoC on elements of type T.
template <class T>
inline npu::simd::RemainderOf<T> RemainderFor(const char* op, npu::simd::Rounding mode,
                                              bool takes_sign, bool high_precision) {
  const bool is_a3 = npu::RunningCore(op).arch->generation == npu::Generation::kA3;
  if constexpr (std::is_same_v<T, half>)
    return {mode, takes_sign};
  else
    return {mode, takes_sign, high_precision && !is_a3,
            is_a3 && mode == npu::simd::Rounding::kDown};
}

template <const TypeRule& kRule, class F, class Dst, class Src, class Scalar>
[[gnu::always_inline]] inline void RemainderByScalar(const char* op, F f, Dst& dst, Src& src,
                                                     Scalar scalar) {
  using C = npu::simd::Compute<typename Src::DType>;
  Elementwise<kRule>(op, npu::simd::BoundSecond<F, C>{f, static_cast<C>(scalar)}, dst, src);
}

}  // namespace detail

/// dst[i, j] = src0[i, j] - floor(src0[i, j] / src1[i, j]) * src1[i, j], each step rounded; where
/// its sign is not that of src1, src1 is added.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: float, and int32 within 2^24,
///                    which is computed in float; A5 also half, cut to half before src1 is added,
///                    and integers of 16 bits and more, of which those of 64 take src0's sign.
///   tmp              scratch tile that A2/A3 needs; not touched here
/// By 0: NaN; integers src0 (A2/A3) or 0 (A5). Pipe V. Source: PTO ISA, TREM.
template <auto kPrecision = RemAlgorithm::DEFAULT, class Dst, class Src0, class Src1, class Tmp,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TREM(Dst& dst, Src0& src0, Src1& src1, Tmp&,
                                               Events&... events) {
  (events.Wait(), ...);
  const auto remainder = detail::RemainderFor<typename Dst::DType>(
      "TREM", npu::simd::Rounding::kDown, true, kPrecision == decltype(kPrecision)(1));
  detail::Elementwise<detail::kFlooredRemainder>("TREM", remainder, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] - floor(src[i, j] / scalar) * scalar, as TREM; on A5 half and float stay
/// as they are where their sign is not that of scalar (float: but for HIGH_PRECISION).
/// Pipe V. Source: PTO ISA, TREMS.
template <auto kPrecision = RemSAlgorithm::DEFAULT, class Dst, class Src, class Tmp,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TREMS(Dst& dst, Src& src, typename Src::DType scalar,
                                                Tmp&, Events&... events) {
  (events.Wait(), ...);
  constexpr bool kHigh = kPrecision == decltype(kPrecision)(1);
  const bool is_a3 = npu::RunningCore("TREMS").arch->generation == npu::Generation::kA3;
  const auto remainder = detail::RemainderFor<typename Dst::DType>(
      "TREMS", npu::simd::Rounding::kDown, is_a3 || kHigh, kHigh);
  detail::RemainderByScalar<detail::kFlooredRemainder>("TREMS", remainder, dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] - trunc(src0[i, j] / src1[i, j]) * src1[i, j], each step rounded.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: float; A5 also half, cut to
///                    half, and integers of 16 and 32 bits.
/// By 0: NaN; integers src0. Pipe V. Source: PTO ISA, TFMOD.
template <auto kPrecision = FmodAlgorithm::DEFAULT, class Dst, class Src0, class Src1,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TFMOD(Dst& dst, Src0& src0, Src1& src1,
                                                Events&... events) {
  (events.Wait(), ...);
  const auto remainder = detail::RemainderFor<typename Dst::DType>(
      "TFMOD", npu::simd::Rounding::kToZero, false, kPrecision == decltype(kPrecision)(1));
  detail::Elementwise<detail::kTruncatedRemainder>("TFMOD", remainder, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src[i, j] - trunc(src[i, j] / scalar) * scalar, as TFMOD.
/// Pipe V. Source: PTO ISA, TFMODS.
template <auto kPrecision = FmodSAlgorithm::DEFAULT, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TFMODS(Dst& dst, Src& src, typename Src::DType scalar,
                                                 Events&... events) {
  (events.Wait(), ...);
  const auto remainder = detail::RemainderFor<typename Dst::DType>(
      "TFMODS", npu::simd::Rounding::kToZero, false, kPrecision == decltype(kPrecision)(1));
  detail::RemainderByScalar<detail::kTruncatedRemainder>("TFMODS", remainder, dst, src, scalar);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
