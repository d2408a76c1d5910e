// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// IEEE 754 binary16.
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
using half = __fp16;  // no _Float16 in C++ there; operands are promoted to float
#else
using half = _Float16;
#endif

/// The upper 16 bits of a float. Arithmetic goes through float and is rounded to nearest even on
/// the way back.
struct bfloat16_t {
  uint16_t bits;

  bfloat16_t() = default;
  constexpr bfloat16_t(float value) : bits(Round(value)) {}  // NOLINT(google-explicit-constructor)
  constexpr operator float() const {                         // NOLINT(google-explicit-constructor)
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
  }

 private:
  static constexpr uint16_t Round(float value) {
    const auto wide = __builtin_bit_cast(uint32_t, value);
    if (value != value)
      return static_cast<uint16_t>((wide >> 16) | 0x40);  // a NaN stays one: set the quiet bit
    return static_cast<uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
  }
};
