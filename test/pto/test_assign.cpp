// SPDX-License-Identifier: Apache-2.0
#include <type_traits>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::At;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::Matrix;
using test::OnCore;
using test::VecTile;

TEST(Tassign, TakesConstantsAndWhatDataOfAnotherTileGave) {
  OnCore([] {
    VecTile<float, 4, 8> tile(4, 8), same(4, 8);
    TASSIGN<64>(tile);
    Fill(tile, [](int row, int col) { return row * 8 + col; });
    TASSIGN(same, reinterpret_cast<uint64_t>(tile.data()));
    EXPECT_EQ(same.data(), tile.data());
    TASSIGN(same, 64u);
    EXPECT_EQ(same.data(), tile.data());
  });
}

TEST(Tassign, TakesWindowsOfAccumulatorsThatEndWithinL0C) {
  using Window = TileAcc<int32_t, 128, 256, 16, 256>;
  test::OnCube([] {
    Window window;
    TASSIGN(window, 7 * 1024);  // the last 16 rows
    EXPECT_EQ(GetTileOffset<Window>(15, 255), 15u * 128 * 16 + 15 * 16 + 15);
  });
  ExpectContains(FaultOf(
                     [] {
                       Window window;
                       TASSIGN(window, 8 * 1024);
                     },
                     test::On::kCube),
                 "to end within the 131072 bytes of L0C");
}

// What lies behind a window at the end of L0C is nobody's: not even with checks off is it touched.
TEST(TassignFault, NamesUsesOfAWindowThatEndBehindL0C) {
  using Window = TileAcc<float, 512, 256, 16, 16>;
  constexpr int kStart = 127 * 1024;
  const auto multiply = [](auto product, auto rows) {
    return FaultOf(
        [&] {
          TileLeft<half, decltype(rows)::value, 16> a;
          TileRight<half, 16, 256> b;
          Window c;
          TASSIGN(a, 0);
          TASSIGN(b, 0);
          TASSIGN(c, kStart);
          product(c, a, b);
        },
        test::On::kCube);
  };
  const auto first = [](auto& c, auto& a, auto& b) { TMATMUL(c, a, b); };
  const auto next = [](auto& c, auto& a, auto& b) { TMATMUL_ACC(c, a, b); };
  ExpectContains(multiply(first, std::integral_constant<int, 512>()),
                 "TMATMUL: expected 512x256 elements of c, a Acc float tile of 512x256, that end "
                 "within the 131072 bytes of L0C on Ascend910B1, got end 654336");
  ExpectContains(multiply(next, std::integral_constant<int, 16>()),
                 "TMATMUL_ACC: expected 16x256 elements of c, a Acc float tile of 512x256, that "
                 "end within the 131072 bytes of L0C");
  ExpectContains(FaultOf(
                     [] {
                       Window src;
                       test::MatNz<half, 16, 32> dst(16, 32);
                       TASSIGN(src, kStart);
                       TASSIGN(dst, 0);
                       TMOV(dst, src);
                     },
                     test::On::kCube),
                 "TMOV: expected 16x32 elements of src, a Acc float tile of 512x256, that end "
                 "within the 131072 bytes of L0C");
  ExpectContains(FaultOf(
                     [] {
                       Window src;
                       TileAcc<float, 512, 256> whole;
                       test::MatNz<half, 16, 16> dst(16, 16);
                       TASSIGN(src, kStart);
                       TRESHAPE(whole, src);
                       TASSIGN(dst, 0);
                       TMOV(dst, whole);
                     },
                     test::On::kCube),
                 "TMOV: expected 512x256 elements of src, a Acc float tile of 512x256, that end "
                 "within the 131072 bytes of L0C");
}

TEST(Tassign, MovesAGlobalTensorOfConstantsToo) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  OnCore([&] {
    VecTile<float, 1, 8> tile(1, 8);
    TASSIGN(tile, 0);
    Matrix<const float> source(values.data(), {1, 8}, {8, 1});
    TASSIGN(source, values.data() + 1);
    TLOAD(tile, source);
    EXPECT_EQ(At(tile, 0, 7), 9.0f);
  });
}

TEST(GlobalTensor, DynamicDimensionsAreGivenLater) {
  std::vector<float> values(64);
  GlobalTensor<float, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>> global(values.data());
  EXPECT_EQ(global.GetShape(3), 1);
  global.SetShape<3, 4>(2, 8);
  global.SetStride<3>(32);
  EXPECT_EQ(global.GetShape(3), 2);
  EXPECT_EQ(global.GetShape(4), 8);
  EXPECT_EQ(global.GetStride(3), 32);
  EXPECT_EQ((decltype(global)::GetShape<2>()), 1);
  EXPECT_EQ((decltype(global)::GetStride<4>()), 1);
  static_assert(decltype(global)::staticShape[3] == DYNAMIC);
}

TEST(Treshape, NamesTheSameBytes) {
  OnCore([] {
    VecTile<float, 4, 16> tile(4, 16);
    VecTile<int32_t, 1, 64> line(1, 64);
    TASSIGN(tile, 256);
    Fill(tile, [](int, int) { return 1.0f; });
    TRESHAPE(line, tile);
    EXPECT_EQ(static_cast<const void*>(line.data()), tile.data());
    EXPECT_EQ(At(line, 0, 63), 0x3f800000);
  });
}

TEST(Tsubview, StartsAtAnElement) {
  using Nz = Tile<TileType::Vec, float, 32, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  OnCore([] {
    VecTile<float, 16, 32> tile(16, 32);
    VecTile<float, 16, 32> view(4, 8);
    Nz boxes(32, 16), box_view(16, 8);
    TASSIGN(tile, 0);
    TASSIGN(boxes, 4096);
    Fill(tile, [](int row, int col) { return row * 100 + col; });
    Fill(boxes, [](int row, int col) { return row * 100 + col; });
    TSUBVIEW(view, tile, 12, 24);
    EXPECT_EQ(At(view, 3, 7), 1531.0f);
    TSUBVIEW(box_view, boxes, 16, 8);
    EXPECT_EQ(At(box_view, 0, 0), 1608.0f);
    EXPECT_EQ(At(box_view, 15, 7), 3115.0f);
  });
}

TEST(Tsubview, CountsTwoElementsOf4BitsToAByte) {
  const auto start = [](uint16_t row, uint16_t col) {
    VecTile<float4_e2m1x2_t, 16, 128> tile(16, 128);
    VecTile<float4_e2m1x2_t, 4, 64> view(4, 64);
    TASSIGN(tile, 0);
    TSUBVIEW(view, tile, row, col);
    return view.data() - tile.data();
  };
  OnCore([&] { EXPECT_EQ(start(12, 64), 12 * 64 + 32); });
  ExpectContains(FaultOf([&] { start(12, 63); }),
                 "TSUBVIEW: expected an even column of elements of 4 bits, got 63");
  ExpectContains(FaultOf([&] { start(12, 66); }), "TSUBVIEW: expected a valid region of dst");
}

TEST(TsubviewFault, NamesARegionThatLeavesTheTile) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 16, 32> tile(16, 32), view(5, 8);
                   TASSIGN(tile, 0);
                   TSUBVIEW(view, tile, 12, 24);
                 }),
                 "TSUBVIEW: expected a valid region of dst within the Vec float tile of 16x32, got "
                 "5x8 at row 12, column 24");
}

TEST(TsubviewFault, NamesAStartWithinABlock) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 16, 32> tile(16, 32), view(1, 8);
                   TASSIGN(tile, 0);
                   TSUBVIEW(view, tile, 1, 1);
                 }),
                 "TSUBVIEW: expected a multiple of 32 bytes as address of the Vec float tile of "
                 "16x32, got 132");
}

}  // namespace
