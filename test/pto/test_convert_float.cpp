// SPDX-License-Identifier: Apache-2.0
// TCVT between floats, all rounding and saturation modes, against a search for the neighbours.
#include <vector>

#include "rounding.hpp"

namespace {

using namespace pto;
using test::AllValues;
using test::BitCast;
using test::kModes;
using test::kSaturations;
using test::Through;

template <class T>
double Number(T value) {
  return static_cast<double>(static_cast<float>(value));
}

/// For each value of T: itself, the middle to the next one, and floats around those.
template <class T>
std::vector<float> Around() {
  std::vector<float> x;
  const auto all = AllValues<T>();
  for (int bits = 0; bits + 1 < 65536; ++bits) {
    const float value = static_cast<float>(all[bits]), next = static_cast<float>(all[bits + 1]);
    const float middle = value / 2 + next / 2;
    for (const float near : {value, middle, std::nextafter(middle, value),
                             std::nextafter(middle, next), std::nextafter(value, next)})
      x.push_back(near);
  }
  for (const float end : {INFINITY, 0x1.fffffep127f, 65504.0f, 65519.0f, 65520.0f, 65536.0f, 1e6f,
                          0x1p-149f, 0x1p-25f, 0x1.000002p-25f, 0x1p-134f, 0.0f, std::nanf("")}) {
    x.push_back(end);
    x.push_back(-end);
  }
  return x;
}

template <class T, class From>
void CheckNarrowing(const std::vector<From>& x, bool a5 = test::kA3) {
  const test::Grid<T> grid;
  for (const auto mode : kModes) {
    for (const auto saturation : kSaturations) {
      const auto z = Through<T>(x, [&](auto& c, auto& a) { TCVT(c, a, mode, saturation); }, a5);
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = grid.Round(Number(x[i]), mode, saturation);
        ASSERT_TRUE(std::isnan(expected)
                        ? std::isnan(Number(z[i]))
                        : Number(z[i]) == expected &&
                              std::signbit(Number(z[i])) == std::signbit(Number(x[i])))
            << Number(x[i]) << " mode " << static_cast<int>(mode) << " saturation "
            << static_cast<int>(saturation) << " gave " << Number(z[i]) << ", expected "
            << expected;
      }
    }
  }
}

TEST(Tcvt, FloatToHalfRoundsAsTold) { CheckNarrowing<half>(Around<half>()); }
TEST(Tcvt, FloatToBfloat16RoundsAsTold) { CheckNarrowing<bfloat16_t>(Around<bfloat16_t>()); }
TEST(Tcvt, Bfloat16ToHalfRoundsAsToldOnA5) {
  CheckNarrowing<half>(AllValues<bfloat16_t>(), test::kA5);
}

TEST(Tcvt, FloatToFloatRoundsToIntegersAsTold) {
  std::vector<float> x;
  for (const half value : AllValues<half>()) x.push_back(static_cast<float>(value));
  for (int i = -200; i <= 200; ++i) {
    const float quarter = static_cast<float>(i) / 4;
    x.insert(x.end(), {quarter, std::nextafter(quarter, 1e9f), std::nextafter(quarter, -1e9f),
                       0x1p23f + i, 0x1p22f + quarter, -0x1p22f + quarter, i * 1e30f});
  }
  for (auto mode : kModes) {
    const auto z = Through<float>(x, [&](auto& c, auto& a) { TCVT(c, a, mode); });
    // To floats CAST_NONE means the nearest.
    if (mode == RoundMode::CAST_NONE) mode = RoundMode::CAST_RINT;
    for (size_t i = 0; i < x.size(); ++i) {
      const auto expected = static_cast<float>(test::ToIntegral(x[i], mode));
      ASSERT_TRUE(test::Same(z[i], std::copysign(expected, x[i])))
          << x[i] << " mode " << static_cast<int>(mode) << " gave " << z[i];
    }
  }
}

TEST(Tcvt, ToFloatIsExactInEveryMode) {
  for (const auto mode : kModes) {
    const auto convert = [&](auto& c, auto& a) { TCVT(c, a, mode); };
    const auto halves = AllValues<half>();
    const auto bfloats = AllValues<bfloat16_t>();
    const auto from_half = Through<float>(halves, convert);
    const auto from_bfloat = Through<float>(bfloats, convert);
    for (int i = 0; i < 65536; ++i) {
      ASSERT_TRUE(test::Same(from_half[i], static_cast<float>(halves[i])));
      ASSERT_EQ(BitCast<uint32_t>(from_bfloat[i]), static_cast<uint32_t>(i) << 16);
    }
  }
}

}  // namespace
