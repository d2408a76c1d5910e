// SPDX-License-Identifier: Apache-2.0
// What kernels that host code calls move between tiles and memory, in forms that no chip has.
#include <acl/acl.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <pto/pto-inst.hpp>
#include <string>
#include <vector>

#include "host_fault.hpp"

namespace {

using namespace pto;
using host_test::FaultOf;

template <class T, int kRows, int kCols, Layout kLayout = Layout::ND>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, kRows, kCols>,
                            Stride<kRows * kCols, kRows * kCols, kRows * kCols, kCols, 1>, kLayout>;

/// A load of an odd number of scales per line, into boxes of two.
template <class TileT, int kRows, int kCols>
void ExpectLoadsScales() {
  std::vector<float8_e8m0_t> scales(kRows * kCols);
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = {static_cast<uint8_t>(i + 1)};
  Matrix<float8_e8m0_t, kRows, kCols> from(scales.data());
  TileT tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t col = 0; col < kCols; ++col)
      EXPECT_EQ(tile.GetElement(row, col).bits, scales[row * kCols + col].bits)
          << row << " " << col;
  }
}

TEST(HostFormMemory, LinesOfScalesThatEndWithinABoxLeaveTheNextOnes) {
  ExpectLoadsScales<
      Tile<TileType::Mat, float8_e8m0_t, 32, 64, BLayout::RowMajor, 32, 3, SLayout::RowMajor, 32>,
      32, 3>();
  ExpectLoadsScales<
      Tile<TileType::Mat, float8_e8m0_t, 64, 32, BLayout::ColMajor, 1, 32, SLayout::ColMajor, 32>,
      1, 32>();
}

TEST(HostFormMemory, LinesOf4BitsMayBeginWithinAByte) {
  constexpr int kRows = 3, kCols = 63, kCount = kRows * kCols;
  std::vector<float4_e2m1x2_t> in(kCount / 2 + 1), out(kCount / 2 + 1);
  for (size_t i = 0; i < kCount; ++i) SetProperDataPart(in.data(), i, {uint8_t(i % 13)});
  for (auto& pair : out) pair = float4_e2m1x2_t{0xee};
  Matrix<float4_e2m1x2_t, kRows, kCols> from(in.data()), to(out.data());
  Tile<TileType::Vec, float4_e2m1x2_t, kRows, 128, BLayout::RowMajor, kRows, kCols> tile;
  Tile<TileType::Vec, uint8_t, kRows, 64> bytes;
  TASSIGN(tile, 0);
  TASSIGN(bytes, 0);
  TEXPANDS(bytes, uint8_t{0xff});
  TLOAD(tile, from);
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t col = 0; col < kCols; ++col)
      EXPECT_EQ(tile.GetElement(row, col).pair, (row * kCols + col) % 13) << row << " " << col;
    EXPECT_EQ(tile.GetElement(row, kCols).pair, 0);       // what is left of the last byte
    EXPECT_EQ(tile.GetElement(row, kCols + 1).pair, 15);  // in no block of the line
  }
  TSTORE(to, tile);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(GetProperDataPart(out.data(), i).pair, i % 13) << i;
  EXPECT_EQ(GetProperDataPart(out.data(), kCount).pair, 0xe);
}

TEST(HostFormMemory, ViewsOf4BitsMayBeMeantInTheOrderOfTheTile) {
  constexpr int kCount = 2 * 4 * 63;
  std::vector<float4_e1m2x2_t> in(kCount / 2);
  for (size_t i = 0; i < kCount; ++i) SetProperDataPart(in.data(), i, {uint8_t(i % 13)});
  using Columns = GlobalTensor<float4_e1m2x2_t, Shape<2, 1, 1, 4, 63>,
                               Stride<4 * 63, 4 * 63, 4 * 63, 63, 1>, Layout::DN>;
  Columns from(in.data());
  Tile<TileType::Vec, float4_e1m2x2_t, 8, 64, BLayout::RowMajor, 8, 63> tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(tile.GetElement(i / 63, i % 63).pair, i % 13) << i;
  Tile<TileType::Vec, float4_e1m2x2_t, 8, 64, BLayout::RowMajor, 8, 62> narrow;
  TASSIGN(narrow, 0);
  EXPECT_NE(FaultOf([&] { TLOAD(narrow, from); }).find("expected a global tensor of 8x62 elements"),
            std::string::npos);
}

TEST(HostFormMemory, ImagesHoldTheChannelsOfTheirShapeAlone) {
  constexpr int kN = 2, kC = 5, kH = 2, kW = 3, kC0 = 8;
  ConvTile<TileType::Vec, float, 1, Layout::NCHW, ConvTileShape<kN, kC, kH, kW>> src;
  ConvTile<TileType::Vec, float, 1, Layout::NC1HWC0, ConvTileShape<kN, 1, kH, kW, kC0>> dst;
  Tile<TileType::Vec, float, 1, 32> tmp;
  TASSIGN(src, 0);
  TASSIGN(dst, 1024);
  TASSIGN(tmp, 2048);
  for (int i = 0; i < kN * kC * kH * kW; ++i) src.data()[i] = static_cast<float>(i + 1);
  for (int i = 0; i < kN * kC0 * kH * kW; ++i) dst.data()[i] = -1.0f;
  TTRANS(dst, src, tmp);
  for (int i = 0; i < kN * kC0 * kH * kW; ++i) {
    const int c = i % kC0, at = i / kC0 % (kH * kW), image = i / kC0 / (kH * kW);
    const auto expected = static_cast<float>((image * kC + c) * kH * kW + at + 1);
    EXPECT_EQ(dst.data()[i], c < kC ? expected : 0.0f) << i;
  }
}

TEST(HostFormMemory, GroupsHoldTheFiltersOfTheirShapeAlone) {
  constexpr int kG = 2, kN = 3, kPlaces = 4, kC0 = 8, kN0 = 16;
  ConvTile<TileType::Vec, int32_t, 1, Layout::GNC1HWC0, ConvTileShape<kG, kN, 1, 2, 2, kC0>> src;
  ConvTile<TileType::Vec, int32_t, 1, Layout::FRACTAL_Z, ConvTileShape<kG * kPlaces, 1, kN0, kC0>>
      dst;
  Tile<TileType::Vec, int32_t, 1, 32> tmp;
  TASSIGN(src, 0);
  TASSIGN(dst, 8192);
  TASSIGN(tmp, 32768);
  for (int i = 0; i < kG * kN * kPlaces * kC0; ++i) src.data()[i] = i + 1;
  TTRANS(dst, src, tmp);
  for (int i = 0; i < kG * kPlaces * kN0 * kC0; ++i) {
    const int c = i % kC0, filter = i / kC0 % kN0, place = i / (kC0 * kN0) % kPlaces;
    const int group = i / (kC0 * kN0 * kPlaces);
    const int expected = ((group * kN + filter) * kPlaces + place) * kC0 + c + 1;
    EXPECT_EQ(dst.data()[i], filter < kN ? expected : 0) << i;
  }
}

TEST(HostFormMemory, ImagesOf4BitsTurnElementByElement) {
  constexpr int kC = 64, kPixels = 6;
  ConvTile<TileType::Vec, float4_e2m1x2_t, 1, Layout::NCHW, ConvTileShape<1, kC, 2, 3>> src;
  ConvTile<TileType::Vec, float4_e2m1x2_t, 1, Layout::NC1HWC0, ConvTileShape<1, 1, 2, 3, kC>> dst;
  ConvTile<TileType::Vec, float4_e2m1x2_t, 1, Layout::NCHW, ConvTileShape<1, kC, 2, 3>> back;
  Tile<TileType::Vec, uint8_t, 1, 32> tmp;
  TASSIGN(src, 0);
  TASSIGN(dst, 1024);
  TASSIGN(back, 2048);
  TASSIGN(tmp, 4096);
  for (size_t i = 0; i < kC * kPixels; ++i) SetProperDataPart(src.data(), i, {uint8_t(i % 13)});
  TTRANS(dst, src, tmp);
  TTRANS(back, dst, tmp);
  for (size_t i = 0; i < kC * kPixels; ++i) {
    const size_t from = i % kC * kPixels + i / kC;
    EXPECT_EQ(GetProperDataPart(dst.data(), i).pair, from % 13) << i;
    EXPECT_EQ(GetProperDataPart(back.data(), i).pair, i % 13) << i;
  }
}

TEST(HostFormMemory, MemoryOfTheHostIsZeroAtFirst) {
  constexpr size_t kBytes = 4096;
  for (int round = 0; round < 3; ++round) {
    void* memory = nullptr;
    ASSERT_EQ(aclrtMallocHost(&memory, kBytes), ACL_SUCCESS);
    auto* bytes = static_cast<uint8_t*>(memory);
    for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(bytes[i], 0) << i;
    std::fill_n(bytes, kBytes, uint8_t{7});
    aclrtFreeHost(memory);
  }
}

}  // namespace
