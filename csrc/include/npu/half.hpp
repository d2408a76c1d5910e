// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

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
  bfloat16_t(float value) : bits(Round(value)) {}  // NOLINT(google-explicit-constructor)
  operator float() const {                         // NOLINT(google-explicit-constructor)
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }

 private:
  static uint16_t Round(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof(wide));
    if (value != value)
      return static_cast<uint16_t>((wide >> 16) | 0x40);  // a NaN stays one: set the quiet bit
    return static_cast<uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
  }
};
