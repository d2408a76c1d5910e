// SPDX-License-Identifier: Apache-2.0
// Bitwise instructions and shifts by a scalar against plain loops; tiles of other shapes and
// layouts.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::ExpectEach;
using test::FaultOn;
using test::OnCore;
using test::Samples;
using test::Through;

template <class T, class Op, class Plain>
void Check(const std::vector<T>& scalars, const Op& op, const Plain& plain) {
  const auto x = Samples<T>(3'001, 5);
  for (const T scalar : scalars) {
    const auto z = Through<T>(x, [&](auto& c, const auto& a) { op(c, a, scalar); });
    ExpectEach(z, x, std::vector<T>(x.size(), scalar),
               [&](T a, T b) { return static_cast<T>(plain(__int128{a}, __int128{b})); });
  }
}

#define WITH_SCALAR(NAME) [](auto& c, const auto& a, auto s) { NAME(c, a, s); }

template <class T>
class ScalarBits : public testing::Test {};
using Integers = testing::Types<int8_t, uint16_t, int32_t>;
TYPED_TEST_SUITE(ScalarBits, Integers);

TYPED_TEST(ScalarBits, AreCombinedAsInThePlainLoop) {
  using T = TypeParam;
  const std::vector<T> scalars = {0, static_cast<T>(-1), 5, std::numeric_limits<T>::min()};
  Check<T>(scalars, WITH_SCALAR(TANDS), [](auto a, auto b) { return a & b; });
  Check<T>(scalars, WITH_SCALAR(TORS), [](auto a, auto b) { return a | b; });
  Check<T>(
      scalars, [](auto& c, const auto& a, auto s) { TXORS(c, a, s, c); },
      [](auto a, auto b) { return a ^ b; });
}

template <class T>
class ScalarShift : public testing::Test {};
using Shifted = testing::Types<int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(ScalarShift, Shifted);

TYPED_TEST(ScalarShift, EqualsThePlainLoop) {
  using T = TypeParam;
  constexpr int kBits = 8 * sizeof(T);
  const std::vector<T> counts = {0, 1, 7, kBits - 1, kBits, 100};
  Check<T>(counts, WITH_SCALAR(TSHLS),
           [](__int128 a, __int128 b) { return b < kBits ? a << b : __int128{0}; });
  Check<T>(counts, WITH_SCALAR(TSHRS),
           [](__int128 a, __int128 b) { return a >> (b < kBits ? b : 64); });
}

TEST(ScalarShift, NamesANegativeCount) {
  const auto op = [](auto& c, auto& a, auto&) { TSHLS(c, a, -1); };
  ExpectContains(FaultOn<int16_t>(op), "TSHLS: expected a shift of 0 bits or more, got -1");
  const auto right = [](auto& c, auto& a, auto&) { TSHRS(c, a, -32768); };
  ExpectContains(FaultOn<int16_t>(right), "TSHRS: expected a shift of 0 bits or more, got -32768");
}

TEST(ScalarBits, NameATypeThatTheChipRefuses) {
  const auto on = [](auto op) { return [op](auto& c, auto& a, auto&) { op(c, a, 1); }; };
  const std::string bitwise =
      ": expected elements of type int8, uint8, int16, uint16, int32 or "
      "uint32 on Ascend910B1, got ";
  ExpectContains(FaultOn<float>(on(WITH_SCALAR(TANDS))), "TANDS" + bitwise + "float");
  ExpectContains(FaultOn<half>(on(WITH_SCALAR(TORS))), "TORS" + bitwise + "half");
  ExpectContains(FaultOn<int64_t>([](auto& c, auto& a, auto&) { TXORS(c, a, 1, c); }),
                 "TXORS" + bitwise + "int64");
  const std::string shift =
      ": expected elements of type int16, uint16, int32 or uint32 on Ascend910B1, got ";
  ExpectContains(FaultOn<int8_t>(on(WITH_SCALAR(TSHLS))), "TSHLS" + shift + "int8");
  ExpectContains(FaultOn<float>(on(WITH_SCALAR(TSHRS))), "TSHRS" + shift + "float");
}

/// dst = src + 1 over 5 x 11 elements of two tile types, in place if they are one.
template <class Dst, class Src>
void CheckLayouts(Dst dst, Src src, bool in_place) {
  OnCore([&] {
    TASSIGN(src, 0);
    TASSIGN(dst, in_place ? 0 : 8192);
    for (int i = 0; i < Src::Numel; ++i) src.SetValue(i, -1.0f);
    for (int i = 0; i < Dst::Numel; ++i) dst.SetValue(i, -1.0f);
    for (int row = 0; row < 5; ++row)
      for (int col = 0; col < 11; ++col)
        *detail::ElementOf(src, row, col) = static_cast<float>(row * 100 + col);
    const Src& source = src;
    TADDS(dst, source, 1.0f);
    int touched = 0;
    for (int i = 0; i < Dst::Numel; ++i) touched += dst.GetValue(i) != -1.0f;
    EXPECT_EQ(touched, 55);
    for (int row = 0; row < 5; ++row)
      for (int col = 0; col < 11; ++col)
        ASSERT_EQ(*detail::ElementOf(dst, row, col), static_cast<float>(row * 100 + col + 1));
  });
}

TEST(Elementwise, WritesTheValidRegionAloneInEveryLayout) {
  using Narrow = Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, -1, -1>;
  using Wide = Tile<TileType::Vec, float, 16, 40, BLayout::RowMajor, 5, 11>;
  CheckLayouts(Narrow(5, 11), Wide(), false);
  CheckLayouts(Wide(), Narrow(5, 11), false);
  CheckLayouts(Narrow(5, 11), Narrow(5, 11), true);
  using Columns = Tile<TileType::Vec, float, 8, 16, BLayout::ColMajor, -1, 11>;
  using MoreColumns = Tile<TileType::Vec, float, 24, 12, BLayout::ColMajor, 5, -1>;
  CheckLayouts(Columns(5), MoreColumns(11), false);
  using Nz = Tile<TileType::Vec, float, 16, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  using LongerNz = Tile<TileType::Vec, float, 32, 24, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  CheckLayouts(Nz(5, 11), LongerNz(5, 11), false);
  CheckLayouts(Nz(5, 11), Nz(5, 11), true);
  using Zz = Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, -1, -1, SLayout::RowMajor>;
  CheckLayouts(Zz(5, 11), Zz(5, 11), true);
}

TEST(Elementwise, TakesWhatAllTilesHaveWithChecksOff) {
  OnCore([] {
    npu::current_core->check_limits = false;
    test::VecTile<bfloat16_t, 4, 16> dst(9, 8), src(3, -1);
    TASSIGN(dst, 0);
    TASSIGN(src, 1024);
    TEXPANDS(dst, bfloat16_t(5.0f));
    TADD(dst, dst, dst);  // a type that the chip refuses
    EXPECT_EQ(static_cast<float>(dst.GetValue(3 * 16 + 7)), 10.0f);
    EXPECT_EQ(static_cast<float>(dst.GetValue(0)), 10.0f);
    TADD(dst, dst, src);
    EXPECT_EQ(static_cast<float>(dst.GetValue(0)), 10.0f);
    src.SetValidCol(2);
    TEXPANDS(src, bfloat16_t(1.0f));
    TADD(dst, dst, src);
    EXPECT_EQ(static_cast<float>(dst.GetValue(2 * 16 + 1)), 11.0f);
    EXPECT_EQ(static_cast<float>(dst.GetValue(2)), 10.0f);
    EXPECT_EQ(static_cast<float>(dst.GetValue(3 * 16)), 10.0f);
    npu::current_core->check_limits = true;
  });
}

TEST(Texpands, FillsAllOfAMatTile) {
  test::OnCube([] {
    Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 3, 5, SLayout::RowMajor> tile;
    TASSIGN(tile, 512);
    TEXPANDS(tile, half(2.5f));
    for (int i = 0; i < 32 * 32; ++i) ASSERT_EQ(tile.data()[i], half(2.5f));
  });
}

TEST(Elementwise, WaitsForItsEvents) {
  std::vector<float> x(64, 3.0f);
  OnCore([&] {
    test::VecTile<float, 1, 64> tile(1, 64);
    test::Matrix<float> global(x.data(), {1, 64}, {64, 1});
    TASSIGN(tile, 0);
    Event<Op::TLOAD, Op::TADDS> loaded = TLOAD(tile, global);
    Event<Op::TADDS, Op::TEXP> added = TADDS(tile, tile, 1.0f, loaded);
    Event<Op::TEXP, Op::TSTORE_VEC> raised = TMULS(tile, tile, 2.0f, added);
    TSTORE(global, tile, raised);
    EXPECT_EQ(npu::current_core->flags[PIPE_MTE2][PIPE_V][0], 0);
    EXPECT_EQ(npu::current_core->flags[PIPE_V][PIPE_MTE3][0], 0);
  });
  EXPECT_EQ(x, std::vector<float>(64, 8.0f));
  ExpectContains(test::FaultOf([] {
                   test::VecTile<float, 1, 64> tile(1, 64);
                   TASSIGN(tile, 0);
                   Event<Op::TLOAD, Op::TEXP> never;
                   TEXP(tile, tile, never);
                 }),
                 "wait_flag: expected an earlier set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0)");
}

}  // namespace
