// SPDX-License-Identifier: Apache-2.0
// What instructions compute, and refuse, in forms that no chip has, in kernels that host code
// calls.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <pto/pto-inst.hpp>
#include <string>
#include <vector>

#include "host_fault.hpp"

namespace {

using namespace pto;
using host_test::FaultOf;

template <class T, int kRows, int kCols, BLayout kB = BLayout::RowMajor, int kVr = kRows,
          int kVc = kCols>
using VecTile = Tile<TileType::Vec, T, kRows, kCols, kB, kVr, kVc>;

/// Without the checks of NPU_CHECK=limits while it lives.
struct WithoutChecks {
  WithoutChecks() { npu::HostCore().check_limits = false; }
  ~WithoutChecks() { npu::HostCore().check_limits = true; }
};

template <class TileT>
void Number(TileT& tile) {
  for (size_t row = 0; row < size_t{TileT::Rows}; ++row) {
    for (size_t col = 0; col < size_t{TileT::Cols}; ++col)
      tile.SetElement(row, col, static_cast<typename TileT::DType>(row * TileT::Cols + col + 1));
  }
}

TEST(HostFormValues, ConvertsFromOneLayoutToAnother) {
  VecTile<int32_t, 8, 16> src;
  VecTile<uint32_t, 8, 16, BLayout::ColMajor> dst;
  TASSIGN(src, 0);
  TASSIGN(dst, 512);
  Number(src);
  TCVT(dst, src, RoundMode::CAST_NONE);
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(dst.GetElement(i / 16, i % 16), i + 1);
}

TEST(HostFormValues, ComputesThroughFloatOnTwoLayouts) {
  VecTile<int16_t, 16, 80> src;
  VecTile<int16_t, 16, 80, BLayout::ColMajor> dst;
  TASSIGN(src, 0);
  TASSIGN(dst, 2560);
  Number(src);
  TLRELU(dst, src, int16_t{3});
  for (size_t i = 0; i < 1280; ++i)
    EXPECT_EQ(dst.GetElement(i / 80, i % 80), static_cast<int16_t>(i + 1));
}

TEST(HostFormValues, WithChecksOffOnlyWhatAllTilesHaveIsComputed) {
  const WithoutChecks off;
  VecTile<int32_t, 16, 8> src;
  VecTile<uint32_t, 1, 8> dst;
  VecTile<int32_t, 1, 8> leaky;
  VecTile<uint32_t, 15, 8> behind;
  TASSIGN(src, 0);
  TASSIGN(dst, 512);
  TASSIGN(leaky, 512);
  TASSIGN(behind, 544);
  Number(src);
  TEXPANDS(behind, 7u);
  TCVT(dst, src, RoundMode::CAST_NONE);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(dst.GetElement(0, i), i + 1);
  TLRELU(leaky, src, 1);
  TLRELU(src, leaky, 1);
  for (size_t i = 0; i < 120; ++i) EXPECT_EQ(behind.GetElement(i / 8, i % 8), 7u);
  for (size_t i = 8; i < 128; ++i)
    EXPECT_EQ(src.GetElement(i / 8, i % 8), static_cast<int32_t>(i) + 1);
}

TEST(HostFormValues, MovesEndWithinTheSpaceOfBothTiles) {
  TileAcc<float, 512, 256, 16, 16> window;
  TileLeft<float, 16, 16> left;
  TASSIGN(window, 127 * 1024);
  TASSIGN(left, 0);
  const std::string from = FaultOf([&] { TEXTRACT(left, window, 496, 240); });
  EXPECT_NE(from.find("512x256 elements of src"), std::string::npos) << from;
  EXPECT_NE(from.find("within the 131072 bytes of L0C"), std::string::npos) << from;
  const std::string to = FaultOf([&] { TINSERT(window, left, 496, 240); });
  EXPECT_NE(to.find("512x256 elements of dst"), std::string::npos) << to;
  EXPECT_EQ(FaultOf([&] { TINSERT(window, left, 0, 0); }), "");
}

TEST(HostFormValues, MovesEndWithinTheSpaceOfCompactTiles) {
  TileLeftCompact<half, 128, 256, 16, 16> compact;
  VecTile<half, 16, 16> part;
  TASSIGN(compact, 65536 - 512);
  TASSIGN(part, 0);
  TEXPANDS(part, half{1});
  EXPECT_EQ(FaultOf([&] { TINSERT(compact, part, 0, 0); }), "");
  const std::string fault = FaultOf([&] { TINSERT(compact, part, 0, 16); });
  EXPECT_NE(fault.find("within the 65536 bytes of L0A"), std::string::npos) << fault;
}

TEST(HostFormValues, IntegersAreRoundedOnceToBfloat16) {
  VecTile<int32_t, 1, 16> in;
  VecTile<uint32_t, 1, 16> bits;
  VecTile<bfloat16_t, 1, 16> out;
  Tile<TileType::Mat, bfloat16_t, 1, 16> moved;
  TASSIGN(in, 0);
  TASSIGN(bits, 64);
  TASSIGN(out, 128);
  TASSIGN(moved, 0);
  TEXPANDS(in, 0);
  TEXPANDS(bits, 0u);
  // Just above, at and just below the middle between 2^24 and the next bfloat16, 2^24 + 2^17.
  const int32_t values[] = {16842753, 16842752, 16842751, -16842753, INT32_MAX};
  const float expected[] = {16908288.0f, 16777216.0f, 16777216.0f, -16908288.0f, 0x1p31f};
  for (size_t i = 0; i < 5; ++i) {
    in.SetElement(0, i, values[i]);
    bits.SetElement(0, i, static_cast<uint32_t>(values[i] < 0 ? -values[i] : values[i]));
  }
  TCVT(out, in, RoundMode::CAST_RINT);
  TMOV(moved, in);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(static_cast<float>(out.GetElement(0, i)), expected[i]);
    EXPECT_EQ(static_cast<float>(moved.GetElement(0, i)), expected[i]);
  }
  TCVT(out, bits, RoundMode::CAST_RINT);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(static_cast<float>(out.GetElement(0, i)), std::abs(expected[i]));
}

TEST(HostFormValues, IntegersOf32BitsKeepAllOfThem) {
  VecTile<int32_t, 1, 8> in, out;
  VecTile<uint32_t, 1, 8> bits;
  TASSIGN(in, 0);
  TASSIGN(out, 32);
  TASSIGN(bits, 64);
  TEXPANDS(in, 16777217);
  in.SetElement(0, 1, -16777217);
  TLRELU(out, in, 1);
  EXPECT_EQ(out.GetElement(0, 0), 16777217);
  EXPECT_EQ(out.GetElement(0, 1), -16777217);
  in.SetElement(0, 1, -1);
  TLRELU(out, in, 16777217);
  EXPECT_EQ(out.GetElement(0, 1), -16777217);
  TEXPANDS(bits, 4294967295u);
  TABS(bits, bits);
  EXPECT_EQ(bits.GetElement(0, 0), 4294967295u);
}

/// Scales 1, 2, 3...
template <class Fp>
void ScaleByColumn(Fp& fp) {
  for (size_t col = 0; col < size_t{Fp::Cols}; ++col) {
    const float scale = static_cast<float>(col + 1);
    uint32_t word;
    std::memcpy(&word, &scale, sizeof(word));
    fp.SetElement(0, col, word);
  }
}

TEST(HostFormValues, StoresColumnsScaledByRow) {
  VecTile<float, 16, 8, BLayout::ColMajor> tile;
  Tile<TileType::Scaling, uint64_t, 1, 16> fp;
  Tile<TileType::Scaling, uint64_t, 1, 8> few;
  TASSIGN(tile, 0);
  TASSIGN(fp, 0);
  TASSIGN(few, 0);
  TEXPANDS(tile, 1.0f);
  ScaleByColumn(fp);
  std::vector<half> out(128);
  GlobalTensor<half, Shape<1, 1, 1, 16, 8>, Stride<128, 128, 128, 8, 1>> rows(out.data());
  TSTORE_FP(rows, tile, fp);
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(static_cast<float>(out[i]), i / 8 + 1);
  EXPECT_NE(FaultOf([&] { TSTORE_FP(rows, tile, few); }).find("fp of at least 16 columns"),
            std::string::npos);
}

TEST(HostFormValues, MovesAskForAWordPerColumn) {
  VecTile<float, 16, 16> src;
  Tile<TileType::Mat, half, 16, 16, BLayout::RowMajor, 16, 8> dst;
  Tile<TileType::Scaling, uint64_t, 1, 16> fp;
  Tile<TileType::Scaling, uint64_t, 1, 8> few;
  TASSIGN(src, 0);
  TASSIGN(dst, 0);
  TASSIGN(fp, 0);
  TASSIGN(few, 0);
  TEXPANDS(src, 1.0f);
  ScaleByColumn(fp);
  TEXTRACT_FP(dst, src, fp, 0, 8);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(static_cast<float>(dst.GetElement(3, i)), i + 9);
  EXPECT_NE(FaultOf([&] { TEXTRACT_FP(dst, src, few, 0, 8); }).find("fp of at least 16 columns"),
            std::string::npos);
}

}  // namespace
