// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "device_block.hpp"
#include "on_core.hpp"

namespace {

using namespace pto;
using test::Matrix;
using test::OnCore;
using test::VecTile;

TEST(Tload, RowViewsOfOneTileKeepTheRowsLoadedBefore) {
  std::vector<float> global(64), seen(4 * 64), canary(8);
  OnCore([&] {
    VecTile<float, 4, 64> parent(4, 64);
    VecTile<float, 1, 8> guard(1, 8);
    TASSIGN(parent, 0);
    TASSIGN(guard, 1024);
    TEXPANDS(guard, 7.0f);
    for (int row = 0; row < 4; ++row) {
      std::fill(global.begin(), global.end(), row + 1.0f);
      Tile<TileType::Vec, float, 4, 64, BLayout::RowMajor, -1, -1> view(1, 64);
      TASSIGN(view, row * 256);
      Matrix<float> source(global.data(), {1, 64}, {64, 1});
      TLOAD(view, source);
    }
    Matrix<float> all(seen.data(), {4, 64}, {64, 1}), rest(canary.data(), {1, 8}, {8, 1});
    TSTORE(all, parent);
    TSTORE(rest, guard);
  });
  for (int i = 0; i < 4 * 64; ++i) ASSERT_EQ(seen[i], i / 64 + 1.0f) << i;
  EXPECT_EQ(canary, std::vector<float>(8, 7.0f));
}

TEST(Tload, MovesPairsOfFourBitsAlikeEachTime) {
  constexpr size_t kBytes = 4 * 32;
  const test::Block<uint8_t> from(1024), to(1024);
  for (size_t i = 0; i < 1024; ++i) {
    from.data()[i] = static_cast<uint8_t>(i * 37);
    to.data()[i] = 0xee;
  }
  OnCore([&] {
    using Pairs = float4_e2m1x2_t;
    VecTile<Pairs, 4, 128> tile(4, 64);
    TASSIGN(tile, 0);
    Matrix<Pairs> source(reinterpret_cast<Pairs*>(from.data()), {4, 64}, {64, 1});
    Matrix<Pairs> target(reinterpret_cast<Pairs*>(to.data()), {4, 64}, {64, 1});
    for (int time = 0; time < 3; ++time) {
      TLOAD(tile, source);
      TSTORE(target, tile);
    }
  });
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(to.data()[i], from.data()[i]) << i;
  EXPECT_EQ(to.data()[kBytes], 0xee);
}

TEST(Tload, MovesRowsOfKnownMemoryAsThoseOfUnknown) {
  for (const int pitch : {64, 72}) {
    for (const int cols : {64, 61, 3}) {
      const test::Block<float> from(8192), to(8192);
      for (int i = 0; i < 2048; ++i) {
        from.data()[i] = static_cast<float>(i);
        to.data()[i] = -1;
      }
      std::vector<float> seen(2 * 5 * 64);
      OnCore([&] {
        Tile<TileType::Vec, float, 5, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512,
             PadValue::Zero>
            tile(5, cols);
        VecTile<float, 5, 64> whole(5, 64);
        TASSIGN(tile, 0);
        TASSIGN(whole, 0);
        Matrix<float> source(from.data() + 8, {5, cols}, {pitch, 1});
        Matrix<float> target(to.data() + 16, {5, cols}, {pitch, 1});
        for (int time = 0; time < 2; ++time) {
          TEXPANDS(whole, 7.0f);
          TLOAD(tile, source);
          Matrix<float> all(seen.data() + time * 5 * 64, {5, 64}, {64, 1});
          TSTORE(all, whole);
          TSTORE(target, tile);
        }
      });
      for (int i = 0; i < 2 * 5 * 64; ++i) {
        const int row = i / 64 % 5, col = i % 64, end = (cols + 7) / 8 * 8;
        const float loaded = static_cast<float>(8 + row * pitch + col);
        ASSERT_EQ(seen[i], col < cols ? loaded : col < end ? 0.0f : 7.0f) << cols << ", " << i;
      }
      for (int i = 0; i < 2048; ++i) {
        const int row = (i - 16) / pitch, col = (i - 16) % pitch;
        const bool written = i >= 16 && row < 5 && col < cols;
        ASSERT_EQ(to.data()[i], written ? static_cast<float>(i - 8) : -1.0f) << i;
      }
    }
  }
}

TEST(Tload, PadsOnlyTheRestOfTheLast32Bytes) {
  std::vector<float> global(2 * 9, 3.0f);
  OnCore([&] {
    VecTile<float, 2, 32> background(2, 32);
    TASSIGN(background, 0);
    TEXPANDS(background, 5.0f);
    Tile<TileType::Vec, float, 2, 32, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512,
         PadValue::Max>
        tile(2, 9);
    TASSIGN(tile, 0);
    Matrix<float> source(global.data(), {2, 9}, {9, 1});
    TLOAD(tile, source);
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 32; ++col) {
        const float expected = col < 9    ? 3.0f
                               : col < 16 ? std::numeric_limits<float>::infinity()
                                          : 5.0f;
        EXPECT_EQ(background.GetValue(row * 32 + col), expected) << row << " " << col;
      }
    }
  });
}

TEST(Tload, RowsOfAnyByteLengthArriveWhole) {
  std::vector<half> from(2 * 9), to(2 * 9);
  for (int i = 0; i < 18; ++i) from[i] = static_cast<half>(i);
  OnCore([&] {
    VecTile<half, 2, 16> tile(2, 9), one(2, 9);
    TASSIGN(tile, 0);
    TASSIGN(one, 64);
    TEXPANDS(one, static_cast<half>(1));
    Matrix<half> source(from.data(), {2, 9}, {9, 1}), target(to.data(), {2, 9}, {9, 1});
    TLOAD(tile, source);
    TADD(tile, tile, one);
    TSTORE(target, tile);
  });
  for (int i = 0; i < 18; ++i) EXPECT_EQ(static_cast<float>(to[i]), i + 1.0f);
}

TEST(Tstore, LeavesWhatLiesBetweenRowsUntouched) {
  std::vector<float> global(4 * 126, -1.0f);
  OnCore([&] {
    VecTile<float, 4, 112> tile(4, 112);
    TASSIGN(tile, 0);
    TEXPANDS(tile, 2.0f);
    Matrix<float> target(global.data(), {4, 112}, {126, 1});
    TSTORE(target, tile);
  });
  for (int i = 0; i < 4 * 126; ++i) EXPECT_EQ(global[i], i % 126 < 112 ? 2.0f : -1.0f) << i;
}

TEST(Tload, GlobalMemoryMayStartAtAnyElement) {
  std::vector<float> from(20), to(20, -1.0f);
  for (int i = 0; i < 20; ++i) from[i] = static_cast<float>(i);
  OnCore([&] {
    VecTile<float, 1, 16> tile(1, 13);
    TASSIGN(tile, 32);
    Matrix<float> source(from.data() + 1, {1, 13}, {13, 1}),
        target(to.data() + 3, {1, 13}, {13, 1});
    TLOAD(tile, source);
    TSTORE(target, tile);
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(to[i], i >= 3 && i < 16 ? i - 2.0f : -1.0f) << i;
}

TEST(Tload, WalksFiveDimensionsWithAnyStrides) {
  std::vector<int32_t> from(720);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int32_t>(i);
  std::vector<int32_t> to(2 * 2 * 3 * 4 * 5);
  using Five = GlobalTensor<int32_t, Shape<>, Stride<>>;
  OnCore([&] {
    VecTile<int32_t, 48, 8> tile(48, 5);
    TASSIGN(tile, 0);
    Five source(from.data(), {2, 2, 3, 4, 5}, {360, 170, 60, 13, 1}),
        target(to.data(), {2, 2, 3, 4, 5}, {120, 60, 20, 5, 1});
    TLOAD(tile, source);
    TSTORE(target, tile);
  });
  for (int i = 0; i < 240; ++i) {
    const int start = i / 120 * 360 + i / 60 % 2 * 170 + i / 20 % 3 * 60 + i / 5 % 4 * 13;
    ASSERT_EQ(to[i], start + i % 5);
  }
}

TEST(Tload, DnFillsColumnMajorTiles) {
  std::vector<float> from(8 * 3), to(8 * 3);
  for (int i = 0; i < 24; ++i) from[i] = static_cast<float>(i);
  using Columns = GlobalTensor<float, Shape<1, 1, 1, 8, 3>, Stride<1, 1, 1, 1, 8>, Layout::DN>;
  OnCore([&] {
    Tile<TileType::Vec, float, 8, 4, BLayout::ColMajor, -1, -1> tile(8, 3);
    TASSIGN(tile, 0);
    Columns source(from.data()), target(to.data());
    TLOAD(tile, source);
    EXPECT_EQ(tile.GetValue(8), 8.0f);
    TSTORE(target, tile);
  });
  EXPECT_EQ(to, from);
}

TEST(Tile, CopiesNameTheSameMemory) {
  OnCore([] {
    VecTile<float, 1, 8> tile(1, 8);
    TASSIGN(tile, 0);
    auto copy = tile;
    TEXPANDS(copy, 4.0f);
    EXPECT_EQ(tile.GetValue(7), 4.0f);
  });
}

TEST(Tile, ValidRegionOfZeroTouchesNothing) {
  std::vector<float> global(8, 1.0f);
  OnCore([&] {
    VecTile<float, 8, 8> whole(8, 8), tile(0, 8);
    TASSIGN(whole, 0);
    TASSIGN(tile, 0);
    TEXPANDS(whole, 3.0f);
    Matrix<float> empty(global.data(), {0, 8}, {8, 1});
    TADD(tile, tile, tile);
    TLOAD(tile, empty);
    TSTORE(empty, tile);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(whole.GetValue(i), 3.0f);
  });
  EXPECT_EQ(global, std::vector<float>(8, 1.0f));
}

}  // namespace
