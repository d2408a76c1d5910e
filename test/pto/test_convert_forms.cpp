// SPDX-License-Identifier: Apache-2.0
// The forms of TCVT, their default saturation, and what they refuse.
#include <vector>

#include "rounding.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

/// What 1 x 16 elements of value become in the form without saturation.
template <class To, class From>
To ByDefault(From value) {
  const auto z = test::Through<To>(std::vector<From>{value},
                                   [](auto& c, auto& a) { TCVT(c, a, RoundMode::CAST_RINT); });
  return z[0];
}

TEST(Tcvt, KeepsLowBitsByDefaultWhereTheChipDoes) {
  EXPECT_EQ((ByDefault<int8_t>(half(300))), 44);
  EXPECT_EQ((ByDefault<uint8_t>(half(300))), 44);
  EXPECT_EQ((ByDefault<int16_t>(half(40000))), 40000 - 65536);
  EXPECT_EQ((ByDefault<int16_t>(40000.0f)), 40000 - 65536);
  EXPECT_EQ((ByDefault<int16_t>(40000)), 40000 - 65536);
  EXPECT_EQ((ByDefault<int32_t>(int64_t{3'000'000'000})), 3'000'000'000 - (int64_t{1} << 32));
  EXPECT_EQ((ByDefault<int8_t>(half(INFINITY))), -1);
  EXPECT_EQ((ByDefault<uint8_t>(half(-INFINITY))), 0);
}

TEST(Tcvt, SaturatesByDefaultElsewhere) {
  EXPECT_EQ((ByDefault<int32_t>(3e9f)), INT32_MAX);
  EXPECT_EQ((ByDefault<int32_t>(half(-INFINITY))), INT32_MIN);
  EXPECT_EQ((ByDefault<int32_t>(bfloat16_t(1e20f))), INT32_MAX);
  EXPECT_EQ((ByDefault<int64_t>(-1e20f)), INT64_MIN);
  EXPECT_EQ((ByDefault<half>(1e6f)), half(65504));
  EXPECT_EQ((ByDefault<half>(-1'000'000)), half(-65504));
  EXPECT_EQ(ByDefault<bfloat16_t>(INFINITY).bits, 0x7f7f);
  EXPECT_EQ(ByDefault<int4b_t>(half(100)).pair & 15, 7);
}

TEST(Tcvt, TakesAScratchTileAndATemplateArgument) {
  OnCore([] {
    VecTile<half, 1, 64> x(1, 3);
    VecTile<int8_t, 1, 64> z(1, 3);
    VecTile<uint8_t, 1, 256> tmp(1, 256);
    TASSIGN(x, 0);
    TASSIGN(z, 128);
    TASSIGN(tmp, 256);
    const half values[] = {half(200.5f), half(-200), half(1.5f)};
    std::copy_n(values, 3, x.data());
    const auto expect = [&](int first, int second, int third) {
      EXPECT_EQ(z.GetValue(0), first);
      EXPECT_EQ(z.GetValue(1), second);
      EXPECT_EQ(z.GetValue(2), third);
    };
    TCVT(z, x, tmp, RoundMode::CAST_TRUNC);
    expect(200 - 256, 56, 1);
    TCVT(z, x, tmp, RoundMode::CAST_RINT, SaturationMode::ON);
    expect(127, -128, 2);
    TCVT<false>(z, x, RoundMode::CAST_CEIL, SaturationMode::OFF);
    expect(201 - 256, 56, 2);
    const auto& source = x;
    TCVT<true>(z, source, RoundMode::CAST_FLOOR);
    expect(200 - 256, 56, 1);
  });
}

TEST(Tcvt, NamesAScratchTileThatIsTooSmall) {
  const auto fault = [](auto target, auto source) {
    return FaultOf([=] {
      VecTile<decltype(source), 2, 256> x(2, 65);
      VecTile<decltype(target), 2, 256> z(2, 65);
      VecTile<uint8_t, 1, 32> tmp(1, 32);
      TASSIGN(x, 0);
      TASSIGN(z, 8192);
      TASSIGN(tmp, 16384);
      TCVT(z, x, tmp, RoundMode::CAST_RINT);
    });
  };
  // 64 results of 4 bytes; for int8 their 16-bit form and scratch; for float the tail of each row,
  // at the distance of rows.
  ExpectContains(fault(int16_t{}, half{}),
                 "TCVT: expected tmp of at least 256 bytes, got 32 bytes");
  ExpectContains(fault(int8_t{}, half{}), "TCVT: expected tmp of at least 256 bytes, got 32 bytes");
  ExpectContains(fault(int16_t{}, float{}),
                 "TCVT: expected tmp of at least 1056 bytes, got 32 bytes");
}

template <class To, class From>
std::string FaultFor(int mode = 1) {
  return FaultOf([=] {
    VecTile<From, 1, 32> x(1, 32);
    VecTile<To, 1, 32> z(1, 32);
    TASSIGN(x, 0);
    TASSIGN(z, 1024);
    TCVT(z, x, static_cast<RoundMode>(mode));
  });
}

TEST(Tcvt, NamesPairsThatTheChipRefuses) {
  ExpectContains(FaultFor<half, bfloat16_t>(),
                 "TCVT: expected dst of type int32 or float from src of bfloat16 on Ascend910B1, "
                 "got half");
  ExpectContains(FaultFor<int8_t, float>(),
                 "TCVT: expected dst of type int16, int32, int64, half, bfloat16 or float from src "
                 "of float on Ascend910B1, got int8");
  ExpectContains(FaultFor<int16_t, uint32_t>(),
                 "TCVT: expected another src than uint32 on Ascend910B1, got int16");
  ExpectContains(FaultFor<double, float>(), "got double");
  OnCore([] {
    const test::AsA5 chip;
    VecTile<half, 1, 32> x(1, 32);
    VecTile<int4b_t, 1, 32> z(1, 32);
    TASSIGN(x, 0);
    TASSIGN(z, 1024);
    EXPECT_THROW(TCVT(z, x, RoundMode::CAST_RINT), npu::Fault);
  });
}

TEST(Tcvt, NamesAnUnknownRoundMode) {
  ExpectContains(FaultFor<half, float>(7),
                 "TCVT: expected a round mode from CAST_NONE (0) to CAST_ODD (6), got 7");
}

TEST(Tcvt, NamesValidRegionsThatDiffer) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 4, 16> x(4, 15);
                   VecTile<half, 4, 16> z(4, 16);
                   TASSIGN(x, 0);
                   TASSIGN(z, 1024);
                   TCVT(z, x, RoundMode::CAST_RINT);
                 }),
                 "TCVT: expected src of valid shape 4x16 (that of dst), got 4x15");
}

TEST(Tcvt, WritesTheValidRegionAloneBetweenTilesOfOtherWidths) {
  OnCore([] {
    VecTile<half, 5, 48> x(4, 33);
    VecTile<float, 7, 40> z(4, 33);
    TASSIGN(x, 0);
    TASSIGN(z, 8192);
    for (int i = 0; i < 7 * 40; ++i) z.SetValue(i, -1.0f);
    for (int i = 0; i < 5 * 48; ++i) x.SetValue(i, half(i));
    TCVT(z, x, RoundMode::CAST_NONE);
    for (int row = 0; row < 7; ++row) {
      for (int col = 0; col < 40; ++col) {
        ASSERT_EQ(z.GetValue(row * 40 + col),
                  row < 4 && col < 33 ? static_cast<float>(row * 48 + col) : -1.0f);
      }
    }
  });
}

}  // namespace
