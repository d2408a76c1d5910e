// SPDX-License-Identifier: Apache-2.0
// Bitwise instructions and shifts on two tiles against plain loops.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::CheckInt;
using test::ExpectEach;
using test::FaultOn;
using test::Through;

#define ON_TILES(NAME) [](auto& c, auto& a, auto& b) { NAME(c, a, b); }

template <class T>
class Bits : public testing::Test {};
using Integers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(Bits, Integers);

TYPED_TEST(Bits, AreCombinedAsInThePlainLoop) {
  using T = TypeParam;
  CheckInt<T>(ON_TILES(TAND), [](auto a, auto b) { return a & b; });
  CheckInt<T>(ON_TILES(TOR), [](auto a, auto b) { return a | b; });
  CheckInt<T>([](auto& c, auto& a, auto& b) { TXOR(c, a, b, c); },
              [](auto a, auto b) { return a ^ b; });
}

TYPED_TEST(Bits, AreShiftedAsInThePlainLoop) {
  using T = TypeParam;
  constexpr int kBits = 8 * sizeof(T);
  const auto is_inside = [](__int128 b) { return b >= 0 && b < kBits; };
  CheckInt<T>(ON_TILES(TSHL),
              [&](__int128 a, __int128 b) { return is_inside(b) ? a << b : __int128{0}; });
  CheckInt<T>(ON_TILES(TSHR), [&](__int128 a, __int128 b) { return a >> (is_inside(b) ? b : 64); });
  std::vector<T> x, y;  // random counts are rarely inside
  for (int count = 0; count <= kBits + 1; ++count) {
    for (const int value : {1, -1, 77, -128}) {
      x.push_back(static_cast<T>(value));
      y.push_back(static_cast<T>(count));
    }
  }
  ExpectEach(Through<T>(x, y, ON_TILES(TSHR)), x, y,
             [&](T a, T b) { return static_cast<T>(__int128{a} >> (is_inside(b) ? b : 64)); });
}

template <class T, class Bits>
void CheckBitsOfFloats() {
  const auto pairs = [&](const auto& op, const auto& plain) {
    test::Check<T>(op, [&](T a, T b) {
      return test::BitCast<T>(
          static_cast<Bits>(plain(test::BitCast<Bits>(a), test::BitCast<Bits>(b))));
    });
  };
  pairs(ON_TILES(TAND), [](Bits a, Bits b) { return a & b; });
  pairs(ON_TILES(TOR), [](Bits a, Bits b) { return a | b; });
  pairs([](auto& c, auto& a, auto& b) { TXOR(c, a, b, c); }, [](Bits a, Bits b) { return a ^ b; });
  pairs([](auto& c, auto& a, auto&) { TNOT(c, a); }, [](Bits a, Bits) { return ~a; });
}

TEST(BitsOfTiles, OfFloatsAreTakenAsTheyAre) {
  CheckBitsOfFloats<float, uint32_t>();
  CheckBitsOfFloats<half, uint16_t>();
  CheckBitsOfFloats<bfloat16_t, uint16_t>();
}

TEST(BitsOfTiles, NameATypeThatTheChipRefuses) {
  using test::ExpectContains;
  ExpectContains(FaultOn<int64_t>(ON_TILES(TAND)),
                 "TAND: expected elements of type int8, uint8, int16, uint16, int32, uint32, half, "
                 "bfloat16 or float on Ascend910B1, got int64");
  ExpectContains(FaultOn<uint64_t>(ON_TILES(TOR)), "TOR: expected elements of type int8");
  ExpectContains(FaultOn<int64_t>([](auto& c, auto& a, auto& b) { TXOR(c, a, b, c); }),
                 "TXOR: expected elements of type int8");
  ExpectContains(FaultOn<double>(ON_TILES(TSHL)), "TSHL: expected elements of type int8");
  ExpectContains(FaultOn<uint64_t>(ON_TILES(TSHR)), "TSHR: expected elements of type int8");
}

}  // namespace
