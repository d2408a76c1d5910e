// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "npu/simd_ops.hpp"
#include "npu/simd_reduce.hpp"
#include "npu/simd_round.hpp"

/// Remainders of divisions.
namespace npu::simd {

namespace detail {

/// value rounded towards zero, the nearer bound where there is no such integer, NaN to 0.
inline int32_t ToInt32(float value) {
  if (value != value) return 0;
  if (value >= 0x1p31f) return std::numeric_limits<int32_t>::max();
  if (value < -0x1p31f) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(value);
}

/// The floored remainder of A2/A3, which computes it in float: exact within 2^24; a by 0 is a.
inline int32_t RemainderInFloat(int32_t a, int32_t b) {
  const auto wide_a = static_cast<float>(a), wide_b = static_cast<float>(b);
  const int32_t quotient = ToInt32(__builtin_floorf(wide_a / wide_b));
  const int32_t rest = Sub{}(ToInt32(wide_a), Mul{}(quotient, ToInt32(wide_b)));
  const auto wide = static_cast<float>(rest);
  return ToInt32(wide * wide_b < 0 ? wide + wide_b : wide);
}

}  // namespace detail

/// a - q * b, each step rounded, where q is a / b rounded to an integer.
struct Remainder {
  Rounding mode;     // of the quotient: kDown or kToZero
  bool takes_sign;   // a result of the other sign than b gets b added
  bool is_exact;     // as if no step were rounded
  bool is_in_float;  // so int32 is computed

  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, Float>) {
      return is_exact ? Exact(a, b) : WithSign(a - RoundToIntegral{mode}(a / b) * b, b);
    } else if constexpr (std::is_floating_point_v<T>) {
      return Exact(a, b);
    } else {
      if constexpr (std::is_same_v<T, int32_t>) {
        if (is_in_float) return detail::RemainderInFloat(a, b);
      }
      return OfIntegers(a, b);
    }
  }

 private:
  [[gnu::always_inline]] Float WithSign(Float rest, Float b) const {
    if (!takes_sign) return rest;
    return rest * b < 0 ? rest + b : rest;
  }

  [[gnu::noinline]] Float Exact(Float a, Float b) const {
    for (int lane = 0; lane < kLanes; ++lane)
      a[lane] = static_cast<float>(Exact(double{a[lane]}, double{b[lane]}));
    return a;
  }

  double Exact(double a, double b) const {
    const double rest = __builtin_fmod(a, b);
    return takes_sign && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }

  /// Integers of 64 bits take the sign of a in any case. By 0: 0, or a where q goes towards zero.
  template <class T>
  T OfIntegers(T a, T b) const {
    if (b == 0) return mode == Rounding::kToZero ? a : T{0};
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
    const auto rest = static_cast<T>(a % b);
    if (sizeof(T) == 8 || mode == Rounding::kToZero || rest == 0 || (rest < 0) == (b < 0))
      return rest;
    return static_cast<T>(rest + b);
  }
};

/// The same for half: computed in float, then cut to half; there b is added, if it is.
struct RemainderOfHalf {
  Rounding mode;
  bool takes_sign;

  [[gnu::always_inline]] Uint16 operator()(Float a, Float b) const {
    constexpr float kNoBound = std::numeric_limits<float>::infinity();
    const Float wide = a - RoundToIntegral{mode}(a / b) * b;
    const Uint16 cut = NarrowTo<half>{Rounding::kToZero, kNoBound}(wide);
    if (!takes_sign) return cut;
    const Float rest = detail::WidenHalf(cut);
    const Int other_sign = detail::Rounded<half>(rest * b) < 0;
    return detail::NarrowHalf(other_sign ? rest + b : rest);
  }
};

template <class T>
using RemainderOf = std::conditional_t<std::is_same_v<T, half>, RemainderOfHalf, Remainder>;

/// op with a scalar as its second operand.
template <class Op, class C>
struct BoundSecond {
  Op op;
  C scalar;
  template <class T>
  auto operator()(T a) const {
    return op(a, Splat<T>(scalar));
  }
};

}  // namespace npu::simd
