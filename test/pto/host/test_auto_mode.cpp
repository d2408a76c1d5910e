// SPDX-License-Identifier: Apache-2.0
// Kernels whose tiles have no address: auto mode.
#include <optional>
#include <thread>
#include <vector>

#include "../on_core.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::Matrix;
using test::OnCore;
using test::OnCube;
using test::VecTile;

static_assert(detail::kIsAuto, "this file is compiled with __PTO_AUTO__");

template <class TileT>
uint64_t AddressOf(const TileT& tile) {
  const npu::Core& core = *npu::current_core;
  const auto space = static_cast<int>(SpaceOf(TileT::Loc));
  return static_cast<uint64_t>(reinterpret_cast<const std::byte*>(tile.data()) -
                               core.scratchpad[space]);
}

TEST(AutoMode, TilesWithoutAddressComputeAndDoNotOverlap) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y(8, 0.5f);
  std::vector<float> z(8);
  OnCore([&] {
    VecTile<float, 1, 8> x_tile(1, 8), y_tile(1, 8), z_tile(1, 8);
    Matrix<const float> x_global(x.data(), {1, 8}, {8, 1}), y_global(y.data(), {1, 8}, {8, 1});
    Matrix<float> z_global(z.data(), {1, 8}, {8, 1});
    TLOAD(x_tile, x_global);
    TLOAD(y_tile, y_global);
    TADD(z_tile, x_tile, y_tile);
    TSTORE(z_global, z_tile);
    EXPECT_NE(AddressOf(x_tile), AddressOf(y_tile));
    EXPECT_NE(AddressOf(y_tile), AddressOf(z_tile));
  });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(z[i], x[i] + 0.5f);
}

TEST(AutoMode, StorageIsFreeAgainAfterTheTile) {
  OnCore([] {
    for (int i = 0; i < 8; ++i) {  // 8 times 128 KiB of 192
      VecTile<float, 128, 256> tile(128, 256);
      TEXPANDS(tile, 1.0f);
      EXPECT_EQ(AddressOf(tile), 0u);
    }
    std::optional<VecTile<float, 1, 8>> first(std::in_place, 1, 8);
    VecTile<float, 1, 8> second(1, 8), third(1, 8);
    TEXPANDS(*first, 1.0f);
    TEXPANDS(second, 2.0f);
    EXPECT_EQ(AddressOf(second), 32u);
    first.reset();
    TEXPANDS(third, 3.0f);
    EXPECT_EQ(AddressOf(third), 0u);  // the gap that first left
    EXPECT_EQ(second.GetValue(7), 2.0f);
  });
}

TEST(AutoMode, CopiesNameOneStorageEvenIfMadeBeforeItsFirstUse) {
  OnCore([] {
    VecTile<float, 1, 8> tile(1, 8);
    std::optional<VecTile<float, 1, 8>> copy(tile);
    TEXPANDS(*copy, 4.0f);
    EXPECT_EQ(tile.data(), copy->data());
    copy.reset();
    VecTile<float, 1, 8> other(1, 8);
    TEXPANDS(other, 5.0f);
    EXPECT_EQ(tile.GetValue(3), 4.0f);
    tile = other;
    EXPECT_EQ(tile.data(), other.data());
  });
}

TEST(AutoMode, ViewsKeepTheStorageOfWhatTheyView) {
  OnCore([] {
    VecTile<int32_t, 2, 16> line(2, 16);
    VecTile<float, 1, 8> part(1, 8);
    {
      VecTile<float, 2, 16> tile(2, 16);
      TEXPANDS(tile, 1.0f);
      TRESHAPE(line, tile);
      TSUBVIEW(part, tile, 1, 8);
      EXPECT_EQ(part.data(), tile.data() + 24);
    }
    VecTile<float, 2, 16> other(2, 16);
    TEXPANDS(other, 2.0f);
    EXPECT_EQ(line.GetValue(31), 0x3f800000);
    EXPECT_EQ(part.GetValue(0), 1.0f);
  });
}

TEST(AutoMode, TassignDoesNothing) {
  OnCore([] {
    VecTile<float, 1, 8> tile(1, 8), same(1, 8);
    TASSIGN(tile, 64);
    TASSIGN<64>(same);
    EXPECT_EQ(AddressOf(tile), 0u);
    EXPECT_EQ(AddressOf(same), 32u);
  });
}

TEST(AutoMode, TilesOfConvolutionsHaveStorage) {
  using Shape = ConvTileShape<-1, 1, 2, 16, 16>;
  using Image = ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, Shape>;
  using Roomy = ConvTile<TileType::Mat, half, 2048, Layout::NC1HWC0, Shape>;
  using Line = ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, ConvTileShape<1, 1, 1, 16, 16>>;
  using Whole = ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, ConvTileShape<1, 1, 16, 1, 16>>;
  OnCube([] {
    Image image(3);
    Roomy roomy(1);
    Whole view;
    {
      Line line, same;
      TASSIGN(line, 64);
      TASSIGN<64>(same);
      TEXPANDS(image, half(1));
      TEXPANDS(roomy, half(2));
      TEXPANDS(line, half(3));
      TRESHAPE(view, line);
      EXPECT_EQ(AddressOf(image), 0u);
      EXPECT_EQ(AddressOf(roomy), 3u * 512 * 2);
      EXPECT_EQ(AddressOf(line), 3u * 512 * 2 + 2048 * 2);
      EXPECT_NE(AddressOf(same), AddressOf(line));
    }
    Line other;
    TEXPANDS(other, half(4));
    EXPECT_EQ(static_cast<float>(image.data()[0]), 1.0f);
    EXPECT_EQ(static_cast<float>(roomy.data()[511]), 2.0f);
    EXPECT_EQ(static_cast<float>(view.data()[255]), 3.0f);
    EXPECT_EQ(static_cast<float>(other.data()[255]), 4.0f);
  });
}

TEST(AutoMode, EachBlockStartsWithAllOfItsMemory) {
  std::vector<int> starts(4, 1);
  OnCore(
      [&] {
        VecTile<float, 128, 256> tile(128, 256);
        TEXPANDS(tile, 1.0f);
        starts[block_idx] = static_cast<int>(AddressOf(tile));
      },
      4);
  EXPECT_EQ(starts, std::vector<int>(4, 0));
}

TEST(AutoMode, SaysWhatIsNeededAndWhatIsFree) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 128, 256> first(128, 256), second(128, 256);
                   TEXPANDS(first, 1.0f);
                   TEXPANDS(second, 1.0f);
                 }),
                 "auto mode: expected 131072 bytes of UB for the Vec float tile of 128x256, got at "
                 "most 65536 free in a row, of the 196608 on Ascend910B1");
  ExpectContains(
      FaultOf([] {
        TileAcc<float, 16, 16> acc;
        static_cast<void>(acc.data());
      }),
      "auto mode: expected a core with L0C for the Acc float tile of 16x16, got a vector "
      "core");
}

TEST(AutoMode, TilesOfHostCodeGiveTheirStorageBackAfterALaunch) {
  {
    VecTile<float, 1, 8> tile(1, 8);
    TEXPANDS(tile, 1.0f);
    EXPECT_EQ(AddressOf(tile), 0u);
    OnCore([] {});
  }
  VecTile<float, 1, 8> next(1, 8);
  TEXPANDS(next, 2.0f);
  EXPECT_EQ(AddressOf(next), 0u);
}

TEST(AutoMode, TilesOutliveTheCoreOfTheirThread) {
  std::optional<VecTile<float, 1, 8>> tile(std::in_place, 1, 8);
  VecTile<float, 1, 8> copy(*tile);
  std::thread([&] { TEXPANDS(*tile, 1.0f); }).join();
  tile.reset();
  TEXPANDS(copy, 2.0f);  // storage of this thread's core
  EXPECT_EQ(copy.GetValue(7), 2.0f);
  EXPECT_EQ(AddressOf(copy), 0u);
}

TEST(AutoMode, CubeTilesHaveTheirOwnSpaces) {
  std::vector<float> c(256);
  std::vector<half> a(256, half(2)), b(256, half(0.5));
  OnCube([&] {
    using Mat = Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor>;
    Mat a_mat, b_mat;
    TileLeft<half, 16, 16> left;
    TileRight<half, 16, 16> right;
    TileAcc<float, 16, 16> acc;
    Matrix<half> a_global(a.data(), {16, 16}, {16, 1}), b_global(b.data(), {16, 16}, {16, 1});
    TLOAD(a_mat, a_global);
    TLOAD(b_mat, b_global);
    TMOV(left, a_mat);
    TMOV(right, b_mat);
    TMATMUL(acc, left, right);
    Matrix<float> c_global(c.data(), {16, 16}, {16, 1});
    TSTORE(c_global, acc);
    EXPECT_EQ(AddressOf(left), 0u);
    EXPECT_EQ(AddressOf(right), 0u);
  });
  EXPECT_EQ(c, std::vector<float>(256, 16.0f));
}

}  // namespace
