// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "on_core.hpp"

namespace {

using namespace pto;
using test::Matrix;
using test::OnCore;
using test::VecTile;

template <class To, class From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Runs op on each 64 elements of x (and y) through tiles; the last piece is ragged.
template <class Z, class X, class Op>
std::vector<Z> Through(const std::vector<X>& x, const std::vector<X>& y, const Op& op,
                       uint32_t flags = 0) {
  std::vector<Z> z(x.size());
  OnCore(
      [&] {
        for (size_t i = 0; i < x.size(); i += 64) {
          const int n = static_cast<int>(std::min<size_t>(64, x.size() - i));
          VecTile<X, 1, 64> a(1, n), b(1, n);
          VecTile<Z, 1, 64> c(1, n);
          TASSIGN(a, 0);
          TASSIGN(b, 1024);
          TASSIGN(c, 2048);
          Matrix<X> from_a(const_cast<X*>(x.data()) + i, {1, n}, {n, 1}),
              from_b(const_cast<X*>(y.data()) + i, {1, n}, {n, 1});
          Matrix<Z> to(z.data() + i, {1, n}, {n, 1});
          TLOAD(a, from_a);
          TLOAD(b, from_b);
          op(c, a, b);
          TSTORE(to, c);
        }
      },
      1, flags);
  return z;
}

/// Bits of x + y for half, from exact double arithmetic: the compiler rounds double to half once.
uint16_t PlainHalfSum(half x, half y) {
  return BitCast<uint16_t>(static_cast<half>(static_cast<double>(x) + static_cast<double>(y)));
}

TEST(Tadd, HalfIsRoundedOnceForAllKindsOfNumbers) {
  std::mt19937 random(1);
  std::vector<half> x(400'003), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = BitCast<half>(static_cast<uint16_t>(random()));
    y[i] = BitCast<half>(static_cast<uint16_t>(i < 65536 ? i : random()));
  }
  const auto z = Through<half>(x, y, [](auto& c, auto& a, auto& b) { TADD(c, a, b); });
  for (size_t i = 0; i < x.size(); ++i) {
    const uint16_t expected = PlainHalfSum(x[i], y[i]);
    if (std::isnan(static_cast<float>(BitCast<half>(expected)))) {
      ASSERT_TRUE(std::isnan(static_cast<float>(z[i])));
    } else {
      ASSERT_EQ(BitCast<uint16_t>(z[i]), expected) << i;
    }
  }
}

template <class T>
class TaddInt : public testing::Test {};
using Ints = testing::Types<int16_t, int32_t>;
TYPED_TEST_SUITE(TaddInt, Ints);

TYPED_TEST(TaddInt, Wraps) {
  constexpr TypeParam kMax = std::numeric_limits<TypeParam>::max();
  constexpr TypeParam kMin = std::numeric_limits<TypeParam>::min();
  const std::vector<TypeParam> x = {kMax, kMin, -1, 5}, y = {1, -1, 1, 7};
  const auto z = Through<TypeParam>(x, y, [](auto& c, auto& a, auto& b) { TADD(c, a, b); });
  EXPECT_EQ(z, (std::vector<TypeParam>{kMin, kMax, 0, 12}));
}

TEST(Tadd, FloatEqualsThePlainLoopWithPitchesAndInPlace) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> uniform(-1e30f, 1e30f);
  OnCore([&] {
    VecTile<float, 8, 40> x(7, 33);
    VecTile<float, 16, 48> y(7, 33);
    TASSIGN(x, 0);
    TASSIGN(y, 8 * 40 * 4);
    std::vector<float> expected;
    for (int row = 0; row < 7; ++row) {
      for (int col = 0; col < 33; ++col) {
        x.SetValue(row * 40 + col, uniform(random));
        y.SetValue(row * 48 + col, uniform(random));
        expected.push_back(x.GetValue(row * 40 + col) + y.GetValue(row * 48 + col));
      }
    }
    x.SetValue(33, 123.0f);  // behind the valid region
    TADD(x, x, y);
    for (int i = 0; i < 7 * 33; ++i) ASSERT_EQ(x.GetValue(i / 33 * 40 + i % 33), expected[i]);
    EXPECT_EQ(x.GetValue(33), 123.0f);
  });
}

TEST(Tcvt, HalfAndBfloat16ToFloatIsExactForAllValues) {
  std::vector<half> halves(65536);
  std::vector<bfloat16_t> bfloats(65536);
  for (int i = 0; i < 65536; ++i) {
    halves[i] = BitCast<half>(static_cast<uint16_t>(i));
    bfloats[i].bits = static_cast<uint16_t>(i);
  }
  const auto convert = [](auto& c, auto& a, auto&) { TCVT(c, a, RoundMode::CAST_NONE); };
  const auto from_half = Through<float>(halves, halves, convert);
  const auto from_bfloat = Through<float>(bfloats, bfloats, convert);
  for (int i = 0; i < 65536; ++i) {
    const double expected = static_cast<double>(halves[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(from_half[i]));
    } else {
      ASSERT_EQ(from_half[i], expected);
      ASSERT_EQ(std::signbit(from_half[i]), std::signbit(expected));
    }
    ASSERT_EQ(BitCast<uint32_t>(from_bfloat[i]), static_cast<uint32_t>(i) << 16);
  }
}

/// The 16-bit float nearest to value, ties to even, found by searching all of them: independent of
/// any rounding code.
template <class T>
uint16_t Nearest(float value, const std::vector<double>& magnitudes) {
  const double magnitude = std::fabs(static_cast<double>(value));
  const auto above = std::lower_bound(magnitudes.begin(), magnitudes.end(), magnitude);
  size_t index = above - magnitudes.begin();
  if (index > 0) {
    const double up = magnitudes[index] - magnitude, down = magnitude - magnitudes[index - 1];
    if (down < up || (down == up && (index - 1) % 2 == 0)) --index;
  }
  return static_cast<uint16_t>(index | (std::signbit(value) ? 0x8000 : 0));
}

template <class T>
void CheckNarrowing(uint16_t infinity, SaturationMode saturation) {
  // All finite magnitudes, and in place of infinity the value at which rounding leaves the finite
  // range.
  std::vector<double> magnitudes(infinity + 1);
  for (int i = 0; i < infinity; ++i) {
    magnitudes[i] = static_cast<double>(static_cast<float>(BitCast<T>(static_cast<uint16_t>(i))));
  }
  magnitudes[infinity] = 2 * magnitudes[infinity - 1] - magnitudes[infinity - 2];
  std::mt19937 random(3);
  std::vector<float> x;
  for (int i = 0; i < 200'000; ++i) x.push_back(BitCast<float>(static_cast<uint32_t>(random())));
  for (int i = 0; i + 1 < infinity;
       ++i) {  // each value, each middle between two, and its neighbours
    const auto middle = static_cast<float>((magnitudes[i] + magnitudes[i + 1]) / 2);
    for (const float value : {static_cast<float>(magnitudes[i]), middle,
                              std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      x.push_back(value);
      x.push_back(-value);
    }
  }
  for (const float value : {INFINITY, -INFINITY, std::nanf("")}) x.push_back(value);
  const auto z = Through<T>(
      x, x, [&](auto& c, auto& a, auto&) { TCVT(c, a, RoundMode::CAST_RINT, saturation); });
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      ASSERT_TRUE(std::isnan(static_cast<float>(z[i])));
      continue;
    }
    uint16_t expected = std::fabs(static_cast<double>(x[i])) >= magnitudes[infinity]
                            ? static_cast<uint16_t>(infinity | (std::signbit(x[i]) ? 0x8000 : 0))
                            : Nearest<T>(x[i], magnitudes);
    if (saturation == SaturationMode::ON && (expected & 0x7fff) == infinity) --expected;
    ASSERT_EQ(BitCast<uint16_t>(z[i]), expected) << x[i];
  }
}

TEST(Tcvt, FloatToHalfTakesTheNearestOrInfinity) {
  CheckNarrowing<half>(0x7c00, SaturationMode::OFF);
}
TEST(Tcvt, FloatToHalfSaturates) { CheckNarrowing<half>(0x7c00, SaturationMode::ON); }
TEST(Tcvt, FloatToBfloat16TakesTheNearestOrInfinity) {
  CheckNarrowing<bfloat16_t>(0x7f80, SaturationMode::OFF);
}
TEST(Tcvt, FloatToBfloat16Saturates) { CheckNarrowing<bfloat16_t>(0x7f80, SaturationMode::ON); }

TEST(Trowsum, AddsLanesInTurnThenNeighboursPairwise) {
  OnCore([] {
    VecTile<float, 2, 136> x(2, 4), tmp(2, 136);
    Tile<TileType::Vec, float, 2, 8, BLayout::RowMajor, -1, 1> sum(2);
    TASSIGN(x, 0);
    TASSIGN(tmp, 4096);
    TASSIGN(sum, 8192);
    const float values[] = {1e8f, 1.0f, -1e8f, 1.0f};
    for (int i = 0; i < 4; ++i) {
      x.SetValue(i, values[i]);
      x.SetValue(136 + i, 1.0f);
    }
    TROWSUM(sum, x, tmp);
    EXPECT_EQ(sum.GetValue(0), 0.0f);  // (1e8 + 1) + (-1e8 + 1): in turn it would be 1, by halves 2
    EXPECT_EQ(sum.GetValue(8), 4.0f);
    x.SetValidShape(1, 130);
    sum.SetValidRow(1);
    for (int i = 0; i < 130; ++i) x.SetValue(i, i == 129 ? 1.0f : 0.0f);
    TROWSUM(sum, x, tmp);
    EXPECT_EQ(sum.GetValue(0), 1.0f);
  });
}

}  // namespace
