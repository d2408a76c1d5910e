// SPDX-License-Identifier: Apache-2.0
// Powers against plain loops.
#include <cmath>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOn;
using test::kA3;
using test::kA5;
using test::Through;

const auto kPow = [](auto& c, auto& a, auto& b) { TPOW(c, a, b, c); };
const auto kPrecise = [](auto& c, auto& a, auto& b) {
  TPOW<PowAlgorithm::HIGH_PRECISION>(c, a, b, c);
};
const float kInfinity = INFINITY, kNan = std::nanf("");

TEST(Tpow, OfFloatsIsAsNearAsTheLogarithmAllows) {
  std::mt19937 random(1);
  std::vector<float> base, exponent;
  for (int i = 0; i < 5'003; ++i) {
    base.push_back(std::exp(std::uniform_real_distribution<float>(-5, 5)(random)) *
                   (i % 3 == 0 ? -1 : 1));
    const float e = std::uniform_real_distribution<float>(-6, 6)(random);
    exponent.push_back(i % 3 == 0 ? std::round(e) : e);
  }
  for (const bool a5 : {kA3, kA5}) {
    const auto power = Through<float>(base, exponent, kPow, a5);
    for (size_t i = 0; i < base.size(); ++i) {
      const double right = std::pow(double{base[i]}, double{exponent[i]});
      const double ulps = 4 + 2 * std::fabs(exponent[i] * std::log(std::fabs(double{base[i]})));
      ASSERT_NEAR(power[i], right, std::fabs(right) * ulps * 0x1p-23)
          << base[i] << " ^ " << exponent[i];
    }
  }
}

struct Edge {
  float base, exponent, a3, a5;
};

TEST(Tpow, KeepsTheEdgesOfTheChip) {
  const std::vector<Edge> edges = {
      {kNan, 0, 1, 1},
      {0, 0, 1, 1},
      {1, kNan, kNan, 1},
      {0, 2, 0, 0},
      {-0.0f, 3, 0, -0.0f},
      {0, -2, kInfinity, kInfinity},
      {-0.0f, -3, kInfinity, -kInfinity},
      {0, kNan, kInfinity, kNan},
      {-1, kInfinity, 1, 1},
      {-1, -kInfinity, 1, 1},
      {-2, 0.5f, kNan, kNan},
      {kInfinity, -1, 0, 0},
      {-kInfinity, 3, -kInfinity, -kInfinity},
      {-kInfinity, 2, kInfinity, kInfinity},
      {2, kInfinity, kInfinity, kInfinity},
      {2, -kInfinity, 0, 0},
      {-2, kInfinity, kNan, kInfinity},
      {kNan, 2, kNan, kNan},
      {2, kNan, kNan, kNan},
      {-3, 0x1p24f, kInfinity, kInfinity},
  };
  std::vector<float> base, exponent;
  for (const Edge& edge : edges) {
    base.push_back(edge.base);
    exponent.push_back(edge.exponent);
  }
  const auto a3 = Through<float>(base, exponent, kPow, kA3);
  const auto a5 = Through<float>(base, exponent, kPow, kA5);
  for (size_t i = 0; i < edges.size(); ++i) {
    EXPECT_TRUE(test::Same(a3[i], edges[i].a3)) << base[i] << " ^ " << exponent[i] << ": " << a3[i];
    EXPECT_TRUE(test::Same(a5[i], edges[i].a5)) << base[i] << " ^ " << exponent[i] << ": " << a5[i];
  }
}

/// Repeated multiplication; negative exponents give 0 but for bases 1 and -1.
template <class T>
T PlainPower(T base, T exponent, bool exponent_is_negative) {
  if (exponent == 0 || base == 1) return 1;
  if (exponent_is_negative) return base == static_cast<T>(-1) ? (exponent & 1 ? base : T{1}) : T{0};
  T power = 1;
  for (T i = 0; i < exponent; ++i)
    power = static_cast<T>(static_cast<uint64_t>(power) * static_cast<uint64_t>(base));
  return power;
}

template <class T>
void CheckIntegers(bool a5) {
  std::vector<T> base, exponent;
  for (int b = -12; b < 13; ++b) {
    for (int e = -5; e < 40; ++e) {
      if (std::is_unsigned_v<T> && sizeof(T) < 4 && e < 0) continue;  // too many steps for the loop
      if (std::is_same_v<T, uint32_t> && a5 && e < 0) continue;
      base.push_back(static_cast<T>(b));
      exponent.push_back(static_cast<T>(e));
    }
  }
  const auto power = Through<T>(base, exponent, kPow, a5);
  test::ExpectEach(power, base, exponent, [](T b, T e) {
    const bool is_negative = std::is_signed_v<T> ? e < 0 : sizeof(T) == 4 && e > T(INT32_MAX);
    return PlainPower(b, e, is_negative);
  });
}

TEST(Tpow, OfIntegersWraps) {
  for (const bool a5 : {kA3, kA5}) {
    CheckIntegers<int8_t>(a5);
    CheckIntegers<uint8_t>(a5);
    CheckIntegers<int16_t>(a5);
    CheckIntegers<uint16_t>(a5);
    CheckIntegers<int32_t>(a5);
    CheckIntegers<uint32_t>(a5);
  }
}

template <class T>
void CheckPrecise() {
  const auto base = test::Samples<T>(3'001, 1, 0), exponent = test::Samples<T>(3'001, 2, 1);
  test::ExpectEach(Through<T>(base, exponent, kPrecise, kA5), base, exponent, [](T b, T e) {
    return static_cast<T>(
        static_cast<float>(std::pow(static_cast<double>(b), static_cast<double>(e))));
  });
}

TEST(Tpow, OfHighPrecisionIsThatOfTheMathematicalLibrary) {
  CheckPrecise<float>();
  CheckPrecise<half>();
  CheckPrecise<bfloat16_t>();
}

TEST(Tpows, IsThatOfATile) {
  const auto base = test::Samples<float>(3'001, 5);
  for (const float exponent : {0.0f, 2.0f, -3.0f, 0.5f, kInfinity}) {
    for (const bool a5 : {kA3, kA5}) {
      const auto by_scalar =
          Through<float>(base, [&](auto& c, auto& a) { TPOWS(c, a, exponent, c); }, a5);
      const std::vector<float> exponents(base.size(), exponent);
      test::ExpectEach(by_scalar, by_scalar, Through<float>(base, exponents, kPow, a5),
                       [](float, float right) { return right; });
    }
  }
  const std::vector<int32_t> integers = {-2, 0, 3, 70000};
  EXPECT_EQ(Through<int32_t>(integers, [](auto& c, auto& a) { TPOWS(c, a, 3, c); }),
            (std::vector<int32_t>{-8, 0, 27, static_cast<int32_t>(70000u * 70000u * 70000u)}));
}

TEST(Power, NamesATypeThatTheChipRefuses) {
  ExpectContains(FaultOn<half>(kPow),
                 "TPOW: expected elements of type int8, uint8, int16, uint16, int32, uint32 or "
                 "float on Ascend910B1, got half");
  ExpectContains(test::FaultOf([] {
                   const test::AsA5 chip;
                   test::VecTile<int32_t, 8, 32> tile(8, 32);
                   TASSIGN(tile, 0);
                   TPOWS<PowAlgorithm::HIGH_PRECISION>(tile, tile, 2, tile);
                 }),
                 "TPOWS: expected elements of type half, bfloat16 or float on Ascend950PR, got "
                 "int32");
}

}  // namespace
