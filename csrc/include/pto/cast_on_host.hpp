// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"

/// Elements as C converts them, in kernels that host code calls.
namespace pto::detail {

/// The float nearest to value or, where none is it, the neighbour whose last bit is set: rounded
/// again to fewer bits, it gives what value would.
template <class T>
float ToOddFloat(T value) {
  const auto exact = static_cast<long double>(value);  // of 64 bits: holds any integer too
  const float nearest = static_cast<float>(value);
  if (static_cast<long double>(nearest) == exact || !__builtin_isfinite(nearest)) return nearest;
  uint32_t bits;
  std::memcpy(&bits, &nearest, sizeof(bits));
  const bool is_beyond = __builtin_fabsl(nearest) > __builtin_fabsl(exact);
  bits = (bits - (is_beyond ? 1u : 0u)) | 1u;
  float odd;
  std::memcpy(&odd, &bits, sizeof(odd));
  return odd;
}

/// value as a D, rounded once: the 16-bit floats are made of float.
template <class D, class T>
D CastOnHost(T value) {
  constexpr bool kIsWide = std::is_arithmetic_v<T> && sizeof(T) >= 4 && !std::is_same_v<T, float>;
  if constexpr (npu::simd::kIsHalf<D> && kIsWide) {
    return static_cast<D>(ToOddFloat(value));
  } else {
    return static_cast<D>(value);
  }
}

}  // namespace pto::detail
