// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/simd_power.hpp"
#include "npu/simd_remainder.hpp"
#include "pto/instr/scalar.hpp"

namespace pto {

/// Precision that a kernel asks for as first template argument. HIGH_PRECISION: floats on A5 are
/// computed in double.
enum class PowAlgorithm : uint8_t { DEFAULT, HIGH_PRECISION };

namespace detail {

inline constexpr TypeRule kPower = {kInts8To32 | kFloat, kInts8To32 | kHalf | kFloat};
inline constexpr TypeRule kPrecisePower = {kPower.a3, kHalf | kBfloat16 | kFloat};

template <PowAlgorithm kPrecision>
inline constexpr const TypeRule& kPowerOf =
    kPrecision == PowAlgorithm::HIGH_PRECISION ? kPrecisePower : kPower;

inline npu::simd::Power PowerFor(const char* op, PowAlgorithm precision) {
  const bool is_a3 = npu::RunningCore(op).arch->generation == npu::Generation::kA3;
  return {is_a3, !is_a3 && precision == PowAlgorithm::HIGH_PRECISION};
}

}  // namespace detail

/// dst[i, j] = base[i, j] to the power of exponent[i, j]; floats as e^(exponent * log |base|),
/// computed in float, each step rounded, with the sign of the power; integers wrap.
///   dst, base, exponent  Vec tiles of one dtype and valid shape. A2/A3: float, integers of 8, 16
///                        and 32 bits; A5 also half, and in high precision the floats and bfloat16
///                        alone.
///   tmp                  scratch tile that A2/A3 needs; not touched here
/// Edges. x^0 = 1, (-1)^inf = 1, a negative base to no integer is NaN. A2/A3: 0^y = 0 or, where y
/// is not above 0, infinity. A5: those of IEEE 754. Integers: x^-y = 0, but 1 and -1; on A2/A3
/// uint32 exponents from 2^31 on count as negative.
/// Pipe V. Source: PTO ISA, TPOW.
template <auto kPrecision = PowAlgorithm::DEFAULT, class Dst, class Base, class Exponent, class Tmp,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TPOW(Dst& dst, Base& base, Exponent& exponent, Tmp&,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kPowerOf<kPrecision>>("TPOW", detail::PowerFor("TPOW", kPrecision),
                                                    dst, base, exponent);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = base[i, j] to the power of exponent, as TPOW.
/// Pipe V. Source: PTO ISA, TPOWS.
template <auto kPrecision = PowAlgorithm::DEFAULT, class Dst, class Base, class Tmp,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TPOWS(Dst& dst, Base& base, typename Dst::DType exponent,
                                                Tmp&, Events&... events) {
  using C = npu::simd::Compute<typename Dst::DType>;
  (events.Wait(), ...);
  detail::Elementwise<detail::kPowerOf<kPrecision>>(
      "TPOWS",
      npu::simd::BoundSecond<npu::simd::Power, C>{detail::PowerFor("TPOWS", kPrecision),
                                                  static_cast<C>(exponent)},
      dst, base);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
