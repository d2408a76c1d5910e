// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::At;
using test::ExpectContains;
using test::Fill;
using test::OnCore;
using test::VecTile;

template <class T, PadValue kPad, int kRowsOfTile = 8, int kColsOfTile = 64>
using Padded = Tile<TileType::Vec, T, kRowsOfTile, kColsOfTile, BLayout::RowMajor, -1, -1,
                    SLayout::NoneBox, 512, kPad>;

TEST(Tfillpad, OfAFullTileAtTheEndOfUbTouchesNothingElse) {
  OnCore([] {
    Padded<float, PadValue::Max> tile(8, 64);
    TASSIGN(tile, 0x30000 - 8 * 64 * 4);
    TEXPANDS(tile, 2.0f);
    TFILLPAD(tile, tile);
    for (int i = 0; i < 8 * 64; ++i) ASSERT_EQ(tile.GetValue(i), 2.0f);
  });
}

TEST(Tfillpad, InPlacePadsRowsAndColumnsBehindTheValidRegion) {
  OnCore([] {
    Padded<float, PadValue::Max> dst(8, 64), src(6, 60);
    TASSIGN(dst, 0);
    TASSIGN(src, 0);
    TEXPANDS(dst, 1.0f);
    TFILLPAD(dst, src);
    for (int i = 0; i < 8 * 64; ++i) {
      ASSERT_EQ(dst.GetValue(i), i / 64 < 6 && i % 64 < 60 ? 1.0f : INFINITY) << i;
    }
  });
}

TEST(Tfillpad, FloatsOf8BitsArePaddedWith0) {
  OnCore([] {
    const AsA5 chip;
    Padded<float8_e4m3_t, PadValue::Max> dst(8, 64), src(8, 60);
    TASSIGN(dst, 0);
    TASSIGN(src, 0);
    for (int i = 0; i < 8 * 64; ++i) dst.SetValue(i, float8_e4m3_t(1.0f));
    TFILLPAD(dst, src);
    for (int i = 0; i < 8 * 64; ++i) ASSERT_EQ(dst.GetValue(i).bits, i % 64 < 60 ? 0x38 : 0) << i;
  });
}

TEST(Tfillpad, ExpandsIntoAWiderTile) {
  OnCore([] {
    Padded<int16_t, PadValue::Min, 6, 64> src(5, 50);
    Padded<int16_t, PadValue::Min, 8, 96> dst(8, 96);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    TEXPANDS(src, static_cast<int16_t>(7));
    TFILLPAD_EXPAND(dst, src);
    for (int i = 0; i < 8 * 96; ++i) {
      ASSERT_EQ(dst.GetValue(i), i / 96 < 5 && i % 96 < 50 ? 7 : INT16_MIN) << i;
    }
    ExpectContains(
        [] {
          try {
            Padded<int16_t, PadValue::Min, 6, 64> small(5, 50);
            Padded<int16_t, PadValue::Min, 8, 96> large(8, 96);
            TASSIGN(small, 0);
            TASSIGN(large, 4096);
            TFILLPAD(large, small);
          } catch (const npu::Fault& fault) {
            return std::string(fault.what());
          }
          return std::string();
        }(),
        "TFILLPAD: expected dst of 6x64 (the extent of src), got 8x96");
  });
}

template <class T>
T Largest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else
    return static_cast<T>(INFINITY);
}

template <class T>
void CheckRowsBelow() {
  OnCore([] {
    Padded<T, PadValue::Max, 64, 64> dst(64, 64), src(48, 64);
    TASSIGN(dst, 0);
    TASSIGN(src, 0);
    Fill(dst, [](int row, int col) { return (row * 7 + col) % 100; });
    TFILLPAD_INPLACE(dst, src);
    for (int row = 0; row < 64; ++row) {
      for (int col = 0; col < 64; ++col) {
        const T expected = row < 48 ? static_cast<T>((row * 7 + col) % 100) : Largest<T>();
        ASSERT_EQ(At(dst, row, col), expected) << row << " " << col;
      }
    }
  });
}

TEST(Tfillpad, InPlacePadsTheRowsBelow) {
  CheckRowsBelow<float>();
  CheckRowsBelow<half>();
  CheckRowsBelow<int32_t>();
  CheckRowsBelow<uint8_t>();
}

/// Rows of dst that are not valid belong to somebody else.
TEST(Tfillpad, LeavesRowsBehindTheLastValidOne) {
  OnCore([] {
    Padded<float, PadValue::Max> dst(6, 64), src(4, 64);
    TASSIGN(dst, 0);
    TASSIGN(src, 0);
    Fill(dst, [](int row, int) { return row; });
    TFILLPAD(dst, src);
    for (int row = 0; row < 8; ++row) {
      const float expected = row == 4 || row == 5 ? INFINITY : static_cast<float>(row);
      ASSERT_EQ(At(dst, row, 63), expected) << row;
    }
  });
}

TEST(Tfillpad, OfOneTileIntoItselfChangesNothing) {
  OnCore([] {
    for (const int rows : {8, 5, 0}) {
      Padded<float, PadValue::Max> tile(rows, 64);
      TASSIGN(tile, 0);
      Fill(tile, [](int row, int col) { return row * 64 + col; });
      TFILLPAD(tile, tile);
      for (int i = 0; i < 8 * 64; ++i) ASSERT_EQ(At(tile, i / 64, i % 64), i) << rows;
    }
  });
}

TEST(Tfillpad, ExpandsEveryRowToTheRight) {
  OnCore([] {
    Padded<float, PadValue::Zero, 16, 32> src(16, 32);
    Padded<float, PadValue::Zero, 16, 64> dst(16, 64);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    Fill(src, [](int row, int col) { return 1 + row + col; });
    Fill(dst, [](int, int) { return -1; });
    TFILLPAD_EXPAND(dst, src);
    for (int row = 0; row < 16; ++row) {
      for (int col = 0; col < 64; ++col) {
        ASSERT_EQ(At(dst, row, col), col < 32 ? 1 + row + col : 0) << row << " " << col;
      }
    }
  });
}

TEST(Tfillpad, PadsWhatARowwiseProductLeftBehindANarrowerRegion) {
  OnCore([] {
    Padded<float, PadValue::Min> product(8, 64);
    VecTile<float, 8, 64> src(8, 64);
    Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, -1, -1> factors(8, 1);
    TASSIGN(product, 0);
    TASSIGN(src, 4096);
    TASSIGN(factors, 8192);
    Fill(src, [](int row, int col) { return row * 64 + col; });
    Fill(factors, [](int row, int) { return row - 3.5f; });
    TROWEXPANDMUL(product, src, factors);
    Padded<float, PadValue::Min> narrow(7, 61);
    TASSIGN(narrow, 0);
    TFILLPAD(product, narrow);
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 64; ++col) {
        const float expected = row < 7 && col < 61 ? (row * 64 + col) * (row - 3.5f) : -INFINITY;
        ASSERT_EQ(At(product, row, col), expected) << row << " " << col;
      }
    }
  });
}

/// Fills a Mat tile of 64x64 with 1, pads it with a valid region of 40x20, and expects 0 in the
/// rows from 40 up to end, in the columns of whole blocks, and in those behind if kBehind.
template <class T, CompactMode kMode>
void CheckMat(int end, int block, bool behind) {
  test::OnCube([&] {
    Tile<TileType::Mat, T, 64, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512,
         PadValue::Null, kMode>
        tile(64, 64);
    TASSIGN(tile, 0);
    Fill(tile, [](int, int) { return 1; });
    tile.SetValidShape(40, 20);
    TFILLPAD(tile, tile);
    const int cols = (20 + block - 1) / block * block;
    for (int row = 0; row < 64; ++row) {
      for (int col = 0; col < 64; ++col) {
        const bool pads = col < cols ? row >= 40 && row < end : behind;
        ASSERT_EQ(static_cast<float>(At(tile, row, col)), pads ? 0 : 1) << row << " " << col;
      }
    }
  });
}

TEST(Tfillpad, OfAMatTilePadsBehindItsBlocksOf32Bytes) {
  CheckMat<half, CompactMode::Null>(64, 16, true);
  CheckMat<float, CompactMode::Null>(64, 8, true);
  CheckMat<int8_t, CompactMode::Null>(64, 32, true);
}

TEST(Tfillpad, OfAMatTileWithAlignedRowsPadsUpToTheNext16) {
  CheckMat<half, CompactMode::RowAlignedPadding>(48, 16, false);
}

static_assert(getCustomPadBits(PadValueCustom(-1.0f)) == 0xbf800000);
static_assert(getCustomPadBits(PadValueCustom(bfloat16_t(-1.0f))) == 0xbf80);
static_assert(getCustomPadBits(PadValueCustom(static_cast<half>(-1.0f))) == 0xbc00);

}  // namespace
