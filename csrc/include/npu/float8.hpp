// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

/// The element types of 8 and 4 bits of A5. Each is its bits; arithmetic goes through float.
namespace npu {

/// A float format: sign, exponent bits with bias, mantissa bits. Codes from first_special on (of
/// those without sign) are not finite numbers.
struct SmallFormat {
  int exponent_bits, mantissa_bits, bias;
  uint32_t first_special;
  uint32_t infinity, nan;  // codes; infinity == nan where the format has no infinity
};

inline constexpr SmallFormat kE4m3Format = {4, 3, 7, 0x7f, 0x7f, 0x7f};
inline constexpr SmallFormat kE5m2Format = {5, 2, 15, 0x7c, 0x7c, 0x7f};
// Without infinity and NaN: what is beyond becomes the largest number.
inline constexpr SmallFormat kE2m1Format = {2, 1, 1, 8, 7, 7};
inline constexpr SmallFormat kE1m2Format = {1, 2, 1, 8, 7, 7};

/// 2 to the power of exponent, from -149 to 127.
constexpr float PowerOfTwo(int exponent) {
  const uint32_t bits = exponent >= -126 ? static_cast<uint32_t>(exponent + 127) << 23
                                         : uint32_t{1} << (exponent + 149);
  return __builtin_bit_cast(float, bits);
}

/// The number that code, without its sign, stands for.
constexpr float DecodeSmall(const SmallFormat& format, uint32_t code) {
  if (code >= format.first_special) {
    return code == format.infinity && code != format.nan ? __builtin_inff() : __builtin_nanf("");
  }
  const int mantissa_bits = format.mantissa_bits;
  const auto exponent = static_cast<int>(code >> mantissa_bits);
  const uint32_t mantissa = code & ((1u << mantissa_bits) - 1);
  const uint32_t significand = exponent == 0 ? mantissa : mantissa | 1u << mantissa_bits;
  const int power = (exponent == 0 ? 1 : exponent) - format.bias - mantissa_bits;
  return static_cast<float>(significand) * PowerOfTwo(power);
}

/// The code, with its sign, of the number nearest to value, ties to even. What rounds beyond the
/// largest number becomes infinity, or what the format has instead.
inline uint8_t EncodeSmall(const SmallFormat& format, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = (bits >> 31) << (format.exponent_bits + format.mantissa_bits);
  const float magnitude = __builtin_fabsf(value);
  if (magnitude != magnitude) return static_cast<uint8_t>(sign | format.nan);
  // Numbers of the format are evenly spaced from one power of two to the next, codes too.
  const auto exponent = static_cast<int>((bits >> 23) & 0xff) - 127;
  const int lowest = 1 - format.bias;
  const int power = exponent < lowest ? lowest : exponent;
  if (power > 16) return static_cast<uint8_t>(sign | format.infinity);
  const float steps = magnitude * PowerOfTwo(format.mantissa_bits - power);
  const auto rounded = static_cast<uint32_t>(__builtin_rintf(steps));
  const uint32_t code = (static_cast<uint32_t>(power - lowest) << format.mantissa_bits) + rounded;
  return static_cast<uint8_t>(sign | (code >= format.first_special ? format.infinity : code));
}

/// The number that a hifloat8 code stands for. Behind the sign a prefix gives the bits of the
/// exponent, which has a sign of its own and a leading 1 that is not stored: 11: 4, 10: 3, 01: 2,
/// 001: 1, 0001: 0; 0000: denormal numbers. Source: Luo et al., Ascend HiFloat8 format, 2024.
constexpr float DecodeHif8(uint8_t code) {
  const uint32_t low = code & 0x7f;
  const float sign = (code & 0x80) != 0 ? -1.0f : 1.0f;
  if (low == 0) return code == 0 ? 0.0f : __builtin_nanf("");
  if (low == 0x6f) return sign * __builtin_inff();
  if (low < 8) return sign * PowerOfTwo(static_cast<int>(low) - 23);
  const int exponent_bits = low >= 0x60   ? 4
                            : low >= 0x40 ? 3
                            : low >= 0x20 ? 2
                            : low >= 0x10 ? 1
                                          : 0;
  const int prefix_bits = exponent_bits >= 2 ? 2 : exponent_bits == 1 ? 3 : 4;
  const int mantissa_bits = 7 - prefix_bits - exponent_bits;
  const uint32_t mantissa = low & ((1u << mantissa_bits) - 1);
  int exponent = 0;
  if (exponent_bits > 0) {
    const uint32_t field = low >> mantissa_bits & ((1u << exponent_bits) - 1);
    const uint32_t leading = 1u << (exponent_bits - 1);
    const auto size = static_cast<int>(leading | (field & (leading - 1)));
    exponent = (field & leading) != 0 ? -size : size;
  }
  const auto significand = static_cast<float>(mantissa | 1u << mantissa_bits);
  return sign * significand * PowerOfTwo(exponent - mantissa_bits);
}

/// The hifloat8 code nearest to value, ties away from zero; from 1.25 * 2^15 on infinity.
inline uint8_t EncodeHif8(float value) {
  const float magnitude = __builtin_fabsf(value);
  if (magnitude != magnitude) return 0x80;
  const uint8_t sign = __builtin_signbit(value) ? 0x80 : 0;
  if (magnitude >= 40960.0f) return static_cast<uint8_t>(sign | 0x6f);
  uint8_t best = 0;
  float best_distance = magnitude;
  for (int code = 1; code < 0x80; ++code) {
    if (code == 0x6f) continue;
    const float candidate = DecodeHif8(static_cast<uint8_t>(code));
    const float distance = __builtin_fabsf(candidate - magnitude);
    if (distance > best_distance) continue;
    const bool is_closer = distance < best_distance;
    if (is_closer || candidate > DecodeHif8(best)) best = static_cast<uint8_t>(code);
    best_distance = distance;
  }
  return best == 0 ? uint8_t{0} : static_cast<uint8_t>(sign | best);
}

}  // namespace npu

/// OCP 8-bit floats: E4M3 (up to 448, no infinity) and E5M2 (up to 57344).
struct float8_e4m3_t {
  uint8_t bits;
  uint8_t RawData() const { return bits; }

  float8_e4m3_t() = default;
  explicit float8_e4m3_t(float value) : bits(npu::EncodeSmall(npu::kE4m3Format, value)) {}
  explicit operator float() const {
    const float magnitude = npu::DecodeSmall(npu::kE4m3Format, bits & 0x7f);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
  }
};
struct float8_e5m2_t {
  uint8_t bits;
  uint8_t RawData() const { return bits; }

  float8_e5m2_t() = default;
  explicit float8_e5m2_t(float value) : bits(npu::EncodeSmall(npu::kE5m2Format, value)) {}
  explicit operator float() const {
    const float magnitude = npu::DecodeSmall(npu::kE5m2Format, bits & 0x7f);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
  }
};

/// A power of two, 2^(bits - 127), as a scale of blocks; 255 is NaN. Source: OCP microscaling.
struct float8_e8m0_t {
  uint8_t bits;
  uint8_t RawData() const { return bits; }

  explicit operator float() const {
    return bits == 0xff ? __builtin_nanf("") : npu::PowerOfTwo(static_cast<int>(bits) - 127);
  }
};

struct hifloat8_t {
  uint8_t bits;
  uint8_t RawData() const { return bits; }

  hifloat8_t() = default;
  explicit hifloat8_t(float value) : bits(npu::EncodeHif8(value)) {}
  explicit operator float() const { return npu::DecodeHif8(bits); }
};

/// Two 4-bit floats, the first in the low half: E2M1 (0, 0.5, 1, 1.5, 2, 3, 4, 6) and E1M2 (0 to
/// 1.75 in quarters), each with a sign.
struct float4_e2m1x2_t {
  uint8_t pair;
  uint8_t RawData() const { return pair; }
#ifdef __CPU_SIM
  // As programs for simulators compare, fill and negate them.
  explicit operator float() const { return Get(0); }
  float4_e2m1x2_t& operator=(float value) {
    pair = npu::EncodeSmall(npu::kE2m1Format, value);
    return *this;
  }
  float4_e2m1x2_t operator-() const { return {static_cast<uint8_t>(pair ^ 0x8)}; }
#endif

  float Get(int index) const {
    const uint32_t code = pair >> 4 * index & 0xf;
    const float magnitude = npu::DecodeSmall(npu::kE2m1Format, code & 7);
    return (code & 8) != 0 ? -magnitude : magnitude;
  }
};
struct float4_e1m2x2_t {
  uint8_t pair;
  uint8_t RawData() const { return pair; }
#ifdef __CPU_SIM
  // As programs for simulators compare, fill and negate them.
  explicit operator float() const { return Get(0); }
  float4_e1m2x2_t& operator=(float value) {
    pair = npu::EncodeSmall(npu::kE1m2Format, value);
    return *this;
  }
  float4_e1m2x2_t operator-() const { return {static_cast<uint8_t>(pair ^ 0x8)}; }
#endif

  float Get(int index) const {
    const uint32_t code = pair >> 4 * index & 0xf;
    const float magnitude = npu::DecodeSmall(npu::kE1m2Format, code & 7);
    return (code & 8) != 0 ? -magnitude : magnitude;
  }
};
