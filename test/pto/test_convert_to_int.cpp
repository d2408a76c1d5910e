// SPDX-License-Identifier: Apache-2.0
// TCVT from floats to integers, all rounding and saturation modes, against plain arithmetic.
#include <vector>

#include "rounding.hpp"

namespace {

using namespace pto;
using test::AllValues;
using test::kModes;
using test::kSaturations;
using test::Through;

template <class T, class From>
void Check(const std::vector<From>& x) {
  for (const auto mode : kModes) {
    for (const auto saturation : kSaturations) {
      const auto z = Through<T>(x, [&](auto& c, auto& a) { TCVT(c, a, mode, saturation); });
      for (size_t i = 0; i < x.size(); ++i) {
        const auto value = static_cast<double>(static_cast<float>(x[i]));
        ASSERT_EQ(z[i], test::InRange<T>(test::ToIntegral(value, mode), saturation))
            << value << " mode " << static_cast<int>(mode) << " saturation "
            << static_cast<int>(saturation);
      }
    }
  }
}

/// Halves and quarters of small numbers, powers of 2 with their neighbours, random bits.
std::vector<float> Floats() {
  std::vector<float> x = test::Samples<float>(20'011, 9);
  for (int i = -300; i <= 300; ++i) x.push_back(static_cast<float>(i) / 4);
  for (int exponent = -3; exponent < 70; ++exponent) {
    const auto power = static_cast<float>(std::ldexp(1.0, exponent));
    for (const float value : {power, power + 0.5f, power - 0.5f, power + 1, power * 1.4142135f,
                              std::nextafter(power, 0.0f), std::nextafter(power, INFINITY)}) {
      x.push_back(value);
      x.push_back(-value);
    }
  }
  return x;
}

TEST(Tcvt, HalfToInt8RoundsAsTold) { Check<int8_t>(AllValues<half>()); }
TEST(Tcvt, HalfToUint8RoundsAsTold) { Check<uint8_t>(AllValues<half>()); }
TEST(Tcvt, HalfToInt16RoundsAsTold) { Check<int16_t>(AllValues<half>()); }
TEST(Tcvt, HalfToInt32RoundsAsTold) { Check<int32_t>(AllValues<half>()); }
TEST(Tcvt, Bfloat16ToInt32RoundsAsTold) { Check<int32_t>(AllValues<bfloat16_t>()); }
TEST(Tcvt, FloatToInt16RoundsAsTold) { Check<int16_t>(Floats()); }
TEST(Tcvt, FloatToInt32RoundsAsTold) { Check<int32_t>(Floats()); }
TEST(Tcvt, FloatToInt64RoundsAsTold) { Check<int64_t>(Floats()); }

TEST(Tcvt, HalfToInt4PacksPairs) {
  const auto x = AllValues<half>();
  for (const auto mode : kModes) {
    for (const auto saturation : kSaturations) {
      std::vector<int4b_t> z =
          Through<int4b_t>(x, [&](auto& c, auto& a) { TCVT(c, a, mode, saturation); });
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t piece = i / test::kPiece * test::kPiece, at = i - piece;
        const int bits = z[piece + at / 2].pair >> (at % 2 * 4) & 15;
        const double value = test::ToIntegral(static_cast<double>(x[i]), mode);
        ASSERT_EQ(bits, test::InRange<int32_t>(value, saturation, -8, 7) & 15)
            << static_cast<double>(x[i]) << " mode " << static_cast<int>(mode);
      }
    }
  }
}

}  // namespace
