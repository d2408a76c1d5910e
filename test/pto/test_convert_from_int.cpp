// SPDX-License-Identifier: Apache-2.0
// TCVT from integers, all rounding and saturation modes, against plain arithmetic.
#include <vector>

#include "rounding.hpp"

namespace {

using namespace pto;
using test::AllValues;
using test::kA3;
using test::kA5;
using test::kModes;
using test::kSaturations;
using test::Through;

template <class T>
std::vector<T> Integers() {
  std::vector<T> x = test::Samples<T>(5'001, 4);
  std::mt19937_64 random(5);
  for (int bits = 1; bits < 64; ++bits) {  // numbers of every length, and around powers of 2
    for (int i = 0; i < 40; ++i) {
      const auto value = static_cast<int64_t>(random() >> (64 - bits));
      x.push_back(static_cast<T>(value));
      x.push_back(static_cast<T>(-value));
    }
    for (int64_t i = -5; i <= 5; ++i) {
      const auto power = uint64_t{1} << bits, step = static_cast<uint64_t>(i);  // they wrap
      x.push_back(static_cast<T>(power + step));
      x.push_back(static_cast<T>(step - power));
    }
  }
  return x;
}

/// value in float: the two neighbours, then as told.
template <class T>
float PlainFloat(T value, RoundMode mode) {
  const auto exact = static_cast<long double>(value);  // 64 bits of significand
  float lower = static_cast<float>(value), upper = lower;
  if (static_cast<long double>(lower) == exact) return lower;
  if (static_cast<long double>(lower) > exact) {
    lower = std::nextafter(lower, -INFINITY);
  } else {
    upper = std::nextafter(upper, INFINITY);
  }
  // Distances between neighbours fit double exactly; shift to the lower one.
  const auto from_lower = static_cast<double>(exact - lower);
  const auto gap = static_cast<double>(static_cast<long double>(upper) - lower);
  const bool lower_is_even = test::BitCast<uint32_t>(lower) % 2 == 0;
  bool takes_upper = from_lower > gap / 2;
  if (mode == RoundMode::CAST_FLOOR) takes_upper = false;
  if (mode == RoundMode::CAST_CEIL) takes_upper = true;
  if (mode == RoundMode::CAST_TRUNC) takes_upper = value < 0;
  if (mode == RoundMode::CAST_ODD) takes_upper = lower_is_even;
  if (mode <= RoundMode::CAST_ROUND && from_lower == gap / 2)
    takes_upper = mode == RoundMode::CAST_ROUND ? value > 0 : !lower_is_even;
  return takes_upper ? upper : lower;
}

template <class T>
void CheckToFloat() {
  const auto x = Integers<T>();
  for (const auto mode : kModes) {
    const auto z = Through<float>(x, [&](auto& c, auto& a) { TCVT(c, a, mode); });
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(z[i], PlainFloat(x[i], mode)) << x[i] << " mode " << static_cast<int>(mode);
  }
}

TEST(Tcvt, Int32ToFloatRoundsAsTold) { CheckToFloat<int32_t>(); }
TEST(Tcvt, Int64ToFloatRoundsAsTold) { CheckToFloat<int64_t>(); }
TEST(Tcvt, Int16ToFloatIsExact) { CheckToFloat<int16_t>(); }

template <class T>
void CheckToHalf(const std::vector<T>& x) {
  const test::Grid<half> grid;
  for (const auto mode : kModes) {
    for (const auto saturation : kSaturations) {
      const auto z = Through<half>(x, [&](auto& c, auto& a) { TCVT(c, a, mode, saturation); });
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(static_cast<double>(z[i]),
                  grid.Round(static_cast<double>(x[i]), mode, saturation))
            << +x[i] << " mode " << static_cast<int>(mode);
      }
    }
  }
}

TEST(Tcvt, Int16ToHalfRoundsAsTold) { CheckToHalf(AllValues<int16_t>()); }
TEST(Tcvt, Int32ToHalfRoundsAsTold) { CheckToHalf(Integers<int32_t>()); }
TEST(Tcvt, BytesToHalfAreExact) {
  CheckToHalf(Integers<int8_t>());
  CheckToHalf(Integers<uint8_t>());
}

template <class To, class From>
void CheckToInt(bool a5 = kA3) {
  const auto x = Integers<From>();
  for (const auto saturation : kSaturations) {
    const auto z =
        Through<To>(x, [&](auto& c, auto& a) { TCVT(c, a, RoundMode::CAST_NONE, saturation); }, a5);
    for (size_t i = 0; i < x.size(); ++i) {
      __int128 expected = x[i];
      if (saturation == SaturationMode::ON) {
        expected = std::clamp<__int128>(expected, std::numeric_limits<To>::min(),
                                        std::numeric_limits<To>::max());
      }
      ASSERT_EQ(z[i], static_cast<To>(expected)) << x[i];
    }
  }
}

TEST(Tcvt, BetweenIntegersCutsOrSaturates) {
  CheckToInt<int16_t, int32_t>();
  CheckToInt<int64_t, int32_t>();
  CheckToInt<int32_t, int64_t>();
  CheckToInt<uint8_t, int16_t>(kA5);
  CheckToInt<uint32_t, int16_t>(kA5);
  CheckToInt<uint16_t, uint32_t>(kA5);
  CheckToInt<int16_t, int8_t>(kA5);
}

TEST(Tcvt, Int4ToHalfTakesPairsApart) {
  test::OnCore([] {
    Tile<TileType::Vec, int4b_t, 2, 128> pairs;
    Tile<TileType::Vec, half, 2, 128> numbers;
    TASSIGN(pairs, 0);
    TASSIGN(numbers, 1024);
    for (int row = 0; row < 2; ++row)
      for (int i = 0; i < 64; ++i)
        pairs.data()[row * 128 + i].pair = static_cast<uint8_t>(i * 37 + row);
    TCVT(numbers, pairs, RoundMode::CAST_NONE);
    for (int row = 0; row < 2; ++row) {
      for (int i = 0; i < 128; ++i) {
        const int byte = static_cast<uint8_t>(i / 2 * 37 + row);
        const int digit = i % 2 == 0 ? byte % 16 : byte / 16;
        ASSERT_EQ(static_cast<int>(numbers.GetValue(row * 128 + i)),
                  digit < 8 ? digit : digit - 16);
      }
    }
  });
}

}  // namespace
