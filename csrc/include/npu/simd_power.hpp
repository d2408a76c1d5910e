// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "npu/simd_math.hpp"
#include "npu/simd_ops.hpp"
#include "npu/simd_round.hpp"

/// Powers.
namespace npu::simd {

/// base to the power of exponent, of floats e^(exponent * log |base|).
struct Power {
  bool is_a3;     // the special cases are those of A2/A3; else those of IEEE 754
  bool is_exact;  // computed in double

  template <class T>
  T operator()(T base, T exponent) const {
    if constexpr (std::is_same_v<T, Float>)
      return OfLanes(base, exponent);
    else if constexpr (std::is_floating_point_v<T>)
      return __builtin_pow(base, exponent);
    else
      return OfIntegers(base, exponent);
  }

 private:
  [[gnu::always_inline]] Float OfLanes(Float base, Float exponent) const {
    const Float nan = Float{} + __builtin_nanf(""), infinity = Float{} + __builtin_inff();
    const Float one = Float{} + 1.0f, size = detail::Magnitude(base);
    const Float positive =
        is_exact ? InDouble(size, exponent) : detail::ExpLanes(detail::LogLanes(size) * exponent);
    const Int is_infinite = detail::Magnitude(exponent) == infinity;
    const Int is_integer = (RoundToIntegral{Rounding::kToZero}(exponent) == exponent) &
                           (is_a3 ? ~is_infinite : Int{} - 1);
    const Float half = exponent * 0.5f;
    const Int is_odd =
        is_integer & ~is_infinite & (RoundToIntegral{Rounding::kToZero}(half) != half);
    const Float negative = is_integer ? (is_odd ? -positive : positive) : nan;
    Float power = base < 0 ? negative : positive;
    power = (base == -1.0f) & is_infinite ? one : power;
    if (is_a3) {
      power = base != base ? nan : power;
      power = base == 0 ? (exponent > 0 ? Float{} : infinity) : power;
    } else {
      const Float reached = exponent < 0 ? (Float)((Uint)base ^ 0x7f800000u) : base;
      const Int is_bound = (base == 0) | (size == infinity);
      power = is_bound ? (is_odd ? reached : detail::Magnitude(reached)) : power;
      power = (base != base) | (exponent != exponent) ? nan : power;
      power = base == 1.0f ? one : power;
    }
    return exponent == 0 ? one : power;
  }

  [[gnu::noinline]] static Float InDouble(Float base, Float exponent) {
    for (int lane = 0; lane < kLanes; ++lane) {
      base[lane] = static_cast<float>(__builtin_pow(double{base[lane]}, double{exponent[lane]}));
    }
    return base;
  }

  /// Wraps. A negative exponent gives 0 but for bases 1 and -1; A2/A3 takes uint32 for int32.
  template <class T>
  T OfIntegers(T base, T exponent) const {
    if (exponent == 0 || base == 1) return 1;
    bool is_negative = false;
    if constexpr (std::is_signed_v<T>) is_negative = exponent < 0;
    if constexpr (std::is_same_v<T, uint32_t>) is_negative = is_a3 && exponent > INT32_MAX;
    if (is_negative && base != static_cast<T>(-1)) return 0;
    if (is_negative) return exponent % 2 != 0 ? base : T{1};
    T power = 1;
    for (; exponent != 0; exponent = static_cast<T>(exponent / 2)) {
      if (exponent % 2 != 0) power = Mul{}(power, base);
      base = Mul{}(base, base);
    }
    return power;
  }
};

}  // namespace npu::simd
