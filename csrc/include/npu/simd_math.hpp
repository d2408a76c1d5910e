// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"

/// Transcendental functions on lanes of float, for all floats: subnormals, infinities, NaN. No
/// fused multiply-add, so every ISA level gives the same bits. Coefficients: minimax fits of our
/// own.
namespace npu::simd {

namespace detail {

[[gnu::always_inline]] inline Float SqrtLanes(Float a) {
#if defined(__clang__)
  return __builtin_elementwise_sqrt(a);
#elif NPU_LANES == 16
  return __builtin_ia32_sqrtps512_mask(a, a, kAllLanes, kDefaultRounding);
#elif defined(__AVX__)
  return __builtin_ia32_sqrtps256(a);
#elif defined(__SSE2__)
  return __builtin_ia32_sqrtps(a);
#else
  for (int lane = 0; lane < kLanes; ++lane) a[lane] = __builtin_sqrtf(a[lane]);
  return a;
#endif
}

/// a * b + c where the product is exact: the same bits whether the instruction is there or not.
[[gnu::always_inline]] inline Float AddExact(Float a, Float b, Float c) {
#ifdef __FMA__
  return FusedMultiplyAdd(a, b, c);
#else
  return a * b + c;
#endif
}

/// y * 2^n, rounded once; shifted is n + 1.5 * 2^23, whose low bits are those of n.
[[gnu::always_inline]] inline Float TimesPowerOf2(Float y, Float n, Float shifted) {
#if NPU_LANES == 16
  (void)shifted;
  return __builtin_ia32_scalefps512_mask(y, n, y, kAllLanes, kDefaultRounding);
#else
  (void)n;
  // In two factors, for 2^n need not be a normal float; the second rounds subnormal results.
  constexpr uint32_t kBias = 127u << 23;
  const Uint exponent = (Uint)shifted << 23;
  const Uint half = ((Uint)shifted << 22) & 0xff800000u;
  return y * (Float)(half + kBias) * (Float)(exponent - half + kBias);
#endif
}

/// e^x = 2^n * e^r with |r| <= log(2) / 2.
[[gnu::always_inline]] inline Float ExpLanes(Float x) {
  // Beyond these bounds the result is infinity or zero in any case.
  x = MaxLanes(Float{} - 104.0f, MinLanes(Float{} + 89.0f, x));
  constexpr float kShift = 0x1.8p23f;  // adding it rounds to an integer, n, in the low bits
  const Float shifted = x * 0x1.715476p0f + kShift;
  const Float n = shifted - kShift;
  // log(2) in two parts; the first has 9 bits, so that its product with n is exact.
  const Float r = AddExact(n, Float{} - 0x1.63p-1f, x) + n * 0x1.bd0106p-13f;
  Float p = r * 0x1.6a2352p-10f + 0x1.123a6cp-7f;
  p = p * r + 0x1.5558f4p-5f;
  p = p * r + 0x1.55549p-3f;
  p = p * r + 0x1.fffffcp-2f;
  return TimesPowerOf2((p * (r * r) + r) + 1.0f, n, shifted);
}

/// log(x) = e * log(2) + log(1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).
[[gnu::always_inline]] inline Float LogLanes(Float x) {
  constexpr int kSqrtHalf = 0x3f3504f3;
  const Int is_small = x < 0x1p-126f;
  const Int bits = (Int)((Uint)(is_small ? x * 0x1p23f : x) - static_cast<uint32_t>(kSqrtHalf));
  const Float e = __builtin_convertvector((bits >> 23) + (is_small & -23), Float);
  const Float f = (Float)((bits & 0x7fffff) + kSqrtHalf) - 1.0f;
  Float q = f * -0x1.38b4a4p-4f + 0x1.055b4p-3f;
  q = q * f - 0x1.0d8558p-3f;
  q = q * f + 0x1.22da24p-3f;
  q = q * f - 0x1.547244p-3f;
  q = q * f + 0x1.99a008p-3f;
  q = q * f - 0x1.000228p-2f;
  q = q * f + 0x1.555554p-2f;
  const Float square = f * f;
  const Float low = q * f * square - e * 0x1.bd0106p-13f;
  Float y = e * 0x1.63p-1f + (f + (low - 0.5f * square));
  y = x == 0 ? Float{} - __builtin_inff() : y;
  y = x < 0 ? Float{} + __builtin_nanf("") : y;
  return (x != x) | (x == __builtin_inff()) ? x : y;
}

}  // namespace detail

struct Sqrt {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, Float>)
      return detail::SqrtLanes(a);
    else
      return __builtin_sqrt(a);
  }
};

/// 1 / sqrt(a), rounded twice: within 1.5 ulp of the exact result, 1 ulp of the rounded one.
struct Rsqrt {
  template <class T>
  T operator()(T a) const {
    return 1 / Sqrt{}(a);
  }
};

/// Within 0.99 ulp of the exact result, subnormal ones too.
struct Exp {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, Float>)
      return detail::ExpLanes(a);
    else
      return __builtin_exp(a);
  }
};

/// Within 0.87 ulp of the exact result.
struct Log {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, Float>)
      return detail::LogLanes(a);
    else
      return __builtin_log(a);
  }
};

}  // namespace npu::simd
