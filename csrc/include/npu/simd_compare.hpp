// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"

/// Comparisons as bit masks, bit i % 8 of byte i / 8 for element i, and selections by them.
namespace npu::simd {

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};

namespace detail {

/// a <comparison> b: a bool, or lanes of all ones.
template <class T>
[[gnu::always_inline]] inline auto Compare(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::kNotEqual:
      return a != b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterEqual:
      return a >= b;
    default:
      return a == b;
  }
}

/// The bits of count <= kComparedAtOnce elements.
template <class T>
inline unsigned CompareSome(Comparison comparison, size_t count, const T* a, const T* b) {
  unsigned bits = 0;
  if constexpr (kIsFloatLane<T>) {
    for (size_t i = 0; i < count; i += kLanes) {
      const size_t rest = count - i;
      const bool whole = rest >= kLanes;
      const Float x = whole ? LoadFloat(a + i) : LoadFloat(Padded<T>(a + i, rest).lanes);
      const Float y = whole ? LoadFloat(b + i) : LoadFloat(Padded<T>(b + i, rest).lanes);
      bits |= BitsOfLanes(Compare(comparison, x, y)) << i;
    }
    bits &= (1u << count) - 1;
  } else {
    for (size_t i = 0; i < count; ++i)
      bits |= static_cast<unsigned>(Compare(comparison, a[i], b[i])) << i;
  }
  return bits;
}

}  // namespace detail

/// Elements that are compared at once: those of whole bytes of bits.
inline constexpr size_t kComparedAtOnce = kLanes < 8 ? 8 : kLanes;

/// to = bits of a[i] <comparison> b[i] for i < count, or of a[i] <comparison> b[0], then b holds it
/// kComparedAtOnce times. Bits behind the last element of its byte are 0.
template <class T>
[[gnu::noinline]] void CompareToBits(Comparison comparison, size_t count, uint8_t* to, const T* a,
                                     const T* b, bool b_is_scalar) {
  for (size_t i = 0; i < count; i += kComparedAtOnce) {
    const size_t some = count - i < kComparedAtOnce ? count - i : kComparedAtOnce;
    const unsigned bits = detail::CompareSome(comparison, some, a + i, b_is_scalar ? b : b + i);
    for (size_t at = 0; at < some; at += 8) to[(i + at) / 8] = static_cast<uint8_t>(bits >> at);
  }
}

/// Elements that are selected at once: at most those of a byte of bits.
inline constexpr int kSelectedAtOnce = kLanes < 8 ? kLanes : 8;

/// to[i] = bit i of bits ? a[i] : b[i] for i < count; of a scalar b holds kSelectedAtOnce. U:
/// unsigned, 8 to 64 bits.
template <class U>
[[gnu::noinline]] void SelectByBits(size_t count, U* to, const uint8_t* bits, const U* a,
                                    const U* b, bool b_is_scalar) {
  size_t i = 0;
  if constexpr (sizeof(U) < sizeof(uint64_t)) {
    constexpr int kStep = kSelectedAtOnce;
    typedef U Lanes __attribute__((vector_size(kStep * sizeof(U))));
    Lanes weights, if_set, if_not;
    for (int lane = 0; lane < kStep; ++lane) weights[lane] = static_cast<U>(1u << lane);
    for (; i + kStep <= count; i += kStep) {
      const auto from_bit_i = static_cast<U>(bits[i / 8] >> (i % 8));
      const Lanes set = (Lanes{} + from_bit_i) & weights;
      const Lanes mask = (Lanes)(set == weights);
      std::memcpy(&if_set, a + i, sizeof(Lanes));
      std::memcpy(&if_not, b_is_scalar ? b : b + i, sizeof(Lanes));
      const Lanes result = (mask & if_set) | (~mask & if_not);
      std::memcpy(to + i, &result, sizeof(result));
    }
  }
  for (; i < count; ++i) {
    const U* from = bits[i / 8] >> (i % 8) & 1 ? a + i : b + (b_is_scalar ? 0 : i);
    std::memcpy(to + i, from, sizeof(U));  // the elements may be floats
  }
}

}  // namespace npu::simd
