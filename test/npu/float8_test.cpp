// SPDX-License-Identifier: Apache-2.0
#include "npu/float8.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

/// The number of a code by the definition of the format.
float Plain(int code, int exponent_bits, int mantissa_bits, int bias) {
  const int mantissa = code & ((1 << mantissa_bits) - 1);
  const int exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double fraction = static_cast<double>(mantissa) / (1 << mantissa_bits);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return static_cast<float>(code >> (exponent_bits + mantissa_bits) != 0 ? -magnitude : magnitude);
}

/// Numbers of the format and between them, to the nearest, ties to even codes.
template <class T>
void CheckRounding(int last) {
  for (int code = 0; code < last; ++code) {
    T low = {}, high = {};
    low.bits = static_cast<uint8_t>(code);
    high.bits = static_cast<uint8_t>(code + 1);
    const float a = static_cast<float>(low), b = static_cast<float>(high);
    const float middle = (a + b) / 2;
    for (const float sign : {1.0f, -1.0f}) {
      const int bit = sign < 0 ? 0x80 : 0;
      EXPECT_EQ(T(sign * a).bits, code | bit);
      EXPECT_EQ(T(sign * middle).bits, (code + (code & 1)) | bit);
      EXPECT_EQ(T(sign * std::nextafter(middle, a)).bits, code | bit);
      EXPECT_EQ(T(sign * std::nextafter(middle, b)).bits, (code + 1) | bit);
    }
  }
}

TEST(Float8, E4m3HasTheNumbersOfOcp) {
  for (int code = 0; code < 256; ++code) {
    float8_e4m3_t value;
    value.bits = static_cast<uint8_t>(code);
    if ((code & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(static_cast<float>(value)));
    } else {
      EXPECT_EQ(static_cast<float>(value), Plain(code, 4, 3, 7)) << code;
    }
  }
  CheckRounding<float8_e4m3_t>(0x7e);
  EXPECT_EQ(float8_e4m3_t(464.0f).bits, 0x7e);
  EXPECT_EQ(float8_e4m3_t(465.0f).bits, 0x7f);
  EXPECT_EQ(float8_e4m3_t(std::numeric_limits<float>::infinity()).bits, 0x7f);
  EXPECT_EQ(float8_e4m3_t(std::nanf("")).bits & 0x7f, 0x7f);
  EXPECT_EQ(float8_e4m3_t(-0.0f).bits, 0x80);
  EXPECT_EQ(float8_e4m3_t(1e-40f).bits, 0);
}

TEST(Float8, E5m2HasTheNumbersOfOcp) {
  for (int code = 0; code < 0x7c; ++code) {
    float8_e5m2_t value;
    value.bits = static_cast<uint8_t>(code | 0x80);
    EXPECT_EQ(static_cast<float>(value), -Plain(code, 5, 2, 15)) << code;
  }
  CheckRounding<float8_e5m2_t>(0x7b);
  EXPECT_EQ(float8_e5m2_t(61440.0f).bits, 0x7c);
  EXPECT_EQ(float8_e5m2_t(-std::numeric_limits<float>::infinity()).bits, 0xfc);
  float8_e5m2_t special;
  special.bits = 0x7c;
  EXPECT_TRUE(std::isinf(static_cast<float>(special)));
  special.bits = 0x7e;
  EXPECT_TRUE(std::isnan(static_cast<float>(special)));
}

TEST(Float8, E8m0IsAPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    EXPECT_EQ(static_cast<float>(float8_e8m0_t{static_cast<uint8_t>(code)}),
              std::ldexp(1.0f, code - 127));
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(float8_e8m0_t{255})));
}

/// Codes of each power of two in the paper's table: exponent, first code, mantissa bits.
TEST(Float8, Hif8TapersItsMantissa) {
  struct Row {
    int exponent, code, mantissa_bits;
  };
  const Row rows[] = {{0, 0x08, 3},  {1, 0x10, 3},  {-1, 0x18, 3}, {2, 0x20, 3},  {3, 0x28, 3},
                      {-2, 0x30, 3}, {-3, 0x38, 3}, {4, 0x40, 2},  {7, 0x4c, 2},  {-4, 0x50, 2},
                      {-7, 0x5c, 2}, {8, 0x60, 1},  {15, 0x6e, 1}, {-8, 0x70, 1}, {-15, 0x7e, 1}};
  for (const Row& row : rows) {
    for (int mantissa = 0; mantissa < 1 << row.mantissa_bits; ++mantissa) {
      hifloat8_t value;
      value.bits = static_cast<uint8_t>(row.code + mantissa);
      if (value.bits == 0x6f) continue;
      const double fraction = static_cast<double>(mantissa) / (1 << row.mantissa_bits);
      const auto expected = static_cast<float>(std::ldexp(1 + fraction, row.exponent));
      EXPECT_EQ(static_cast<float>(value), expected) << row.exponent << " " << mantissa;
      EXPECT_EQ(hifloat8_t(expected).bits, value.bits);
      EXPECT_EQ(hifloat8_t(-expected).bits, value.bits | 0x80);
    }
  }
  for (int code = 1; code < 8; ++code) {
    hifloat8_t value;
    value.bits = static_cast<uint8_t>(code);
    EXPECT_EQ(static_cast<float>(value), std::ldexp(1.0f, code - 23));
  }
  EXPECT_EQ(hifloat8_t(1.0625f).bits, 0x09);  // ties go away from zero
  EXPECT_EQ(hifloat8_t(40959.0f).bits, 0x6e);
  EXPECT_EQ(hifloat8_t(-40960.0f).bits, 0xef);
  EXPECT_EQ(hifloat8_t(std::nanf("")).bits, 0x80);
  EXPECT_EQ(hifloat8_t(-0.0f).bits, 0);
}

TEST(Float4, HasEightNumbersAndASign) {
  const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (int code = 0; code < 8; ++code) {
    const float4_e2m1x2_t first = {static_cast<uint8_t>((code | 8) << 4 | code)};
    EXPECT_EQ(first.Get(0), e2m1[code]);
    EXPECT_EQ(first.Get(1), -e2m1[code]);
    const float4_e1m2x2_t second = {static_cast<uint8_t>((code | 8) << 4 | code)};
    EXPECT_EQ(second.Get(0), static_cast<float>(code) / 4);
    EXPECT_EQ(second.Get(1), static_cast<float>(code) / -4);
  }
}

}  // namespace
