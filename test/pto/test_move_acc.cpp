// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "moved_tiles.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::At;
using test::BitsOf;
using test::ExpectContains;
using test::ExpectMoved;
using test::FaultOf;
using test::Fill;
using test::LeftZz;
using test::Mark;
using test::MatNz;
using test::MatZn;
using test::On;
using test::OnCore;
using test::OnCube;
using test::Right;
using test::VecTile;

template <int kCols>
using Words = Tile<TileType::Scaling, uint64_t, 1, kCols, BLayout::RowMajor, 1, -1>;

/// Values around the ties of half and its range.
float AccValue(int row, int col) {
  constexpr float kValues[] = {0.0f,     -0.0f,     1.0f + 0x1p-11f, 1.0f + 0x3p-11f, 65519.0f,
                               65520.0f, -70000.0f, 0x1p-25f,        0x3p-26f,        -3.5f};
  return kValues[(row * 5 + col) % 10];
}

TEST(TmovAcc, ToMatRoundsOnceAndCanCutAtZero) {
  OnCube([] {
    Acc<float, 32, 32> src(30, 27);
    MatNz<half, 32, 32> dst(30, 27);
    MatNz<bfloat16_t, 32, 32> wide(30, 27);
    MatNz<float, 32, 32> same(30, 27);
    TASSIGN(src, 0);
    TASSIGN(dst, 0);
    TASSIGN(wide, 8192);
    TASSIGN(same, 16384);
    Fill(src, AccValue);
    TMOV(dst, src);
    TMOV<STPhase::Final>(wide, src);
    TMOV<decltype(same), decltype(src), ReluPreMode::NormalRelu>(same, src);
    for (int row = 0; row < 30; ++row) {
      for (int col = 0; col < 27; ++col) {
        const float value = AccValue(row, col);
        ASSERT_EQ(BitsOf(At(dst, row, col)), BitsOf(static_cast<half>(value))) << value;
        ASSERT_EQ(BitsOf(At(wide, row, col)), BitsOf(bfloat16_t(value))) << value;
        ASSERT_EQ(At(same, row, col), value > 0 ? value : 0.0f);
      }
    }
  });
}

/// The quantization word of a scale and a sign.
uint64_t Word(float scale, bool into_int8, int offset = 0) {
  return BitsOf(scale) | static_cast<uint64_t>(offset & 0x1ff) << 37 |
         static_cast<uint64_t>(into_int8) << 46;
}

int Quantized(float value, float scale, int offset, int low, int high) {
  const double scaled = std::min(std::max(static_cast<double>(value * scale), -256.0), 255.0);
  const int rounded = static_cast<int>(std::nearbyint(scaled)) + offset;
  return std::min(std::max(rounded, low), high);
}

TEST(TmovAcc, QuantizesWithOneWordOrOnePerColumn) {
  OnCube([] {
    Acc<float, 16, 32> src(16, 32);
    MatNz<int8_t, 16, 32> dst(16, 32);
    Words<32> words(32);
    TASSIGN(src, 0);
    TASSIGN(dst, 0);
    TASSIGN(words, 0);
    Fill(src, [](int row, int col) { return (row - 8) * 16.5f + col; });
    Fill(words, [](int, int col) { return Word(0.25f * (col % 5), true, col % 3); });
    TMOV(dst, src, Word(0.5f, true, -3));
    for (int row = 0; row < 16; ++row) {
      for (int col = 0; col < 32; ++col) {
        ASSERT_EQ(At(dst, row, col), Quantized((row - 8) * 16.5f + col, 0.5f, -3, -128, 127));
      }
    }
    TMOV_FP<decltype(dst), decltype(src), decltype(words), ReluPreMode::NormalRelu>(dst, src,
                                                                                    words);
    for (int row = 0; row < 16; ++row) {
      for (int col = 0; col < 32; ++col) {
        const float value = (row - 8) * 16.5f + col;
        const int expected = Quantized(value, 0.25f * (col % 5), col % 3, -128, 127);
        ASSERT_EQ(At(dst, row, col), std::max(expected, 0)) << row << " " << col;
      }
    }
  });
}

TEST(Textract, TakesAPartOfAMatTile) {
  OnCube([] {
    MatNz<half, 64, 96> src(64, 96);
    MatZn<half, 96, 64> turned(96, 64);
    LeftZz<half, 32, 48> left(32, 48);
    Right<half, 48, 32> right(48, 32);
    TASSIGN(src, 0);
    TASSIGN(turned, 16384);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    Fill(src, Mark);
    Fill(turned, Mark);
    TEXTRACT(left, src, 16, 32);
    ExpectMoved(left, src, 32, 48, 16, 32);
    TEXTRACT(left, turned, 32, 16);
    ExpectMoved(left, turned, 32, 48, 32, 16);
    TEXTRACT(right, turned, 48, 32);
    ExpectMoved(right, turned, 48, 32, 48, 32);
    TEXTRACT(left, src);
    ExpectMoved(left, src, 32, 48);
  });
}

TEST(Textract, TakesAPartOfAVecTile) {
  using Nz = Tile<TileType::Vec, float, 32, 32, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  using SmallNz = Tile<TileType::Vec, float, 16, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  OnCore([] {
    VecTile<float, 16, 32> src(16, 32);
    VecTile<float, 8, 16> dst(7, 13);
    Nz boxes(32, 32);
    SmallNz part(13, 11);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    TASSIGN(boxes, 8192);
    TASSIGN(part, 16384);
    Fill(src, Mark);
    Fill(boxes, Mark);
    TEXTRACT(dst, src, 5, 16);
    ExpectMoved(dst, src, 7, 13, 5, 16);
    TEXTRACT(part, boxes, 16, 8);
    ExpectMoved(part, boxes, 13, 11, 16, 8);
    dst.SetValidShape(1, 1);
    TEXTRACT(dst, src, 3, 7);  // one element may lie anywhere
    ExpectMoved(dst, src, 1, 1, 3, 7);
  });
}

TEST(Textract, CutsTwoPartsOfRowsIntoBoxes) {
  using Nz = Tile<TileType::Vec, half, 32, 32, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  OnCore([] {
    VecTile<half, 48, 64> src(48, 64);
    Nz one(31, 29), other(5, 32);
    TASSIGN(src, 0);
    TASSIGN(one, 8192);
    TASSIGN(other, 16384);
    Fill(src, Mark);
    TEXTRACT(one, other, src, 3, 7, 40, 32);
    ExpectMoved(one, src, 31, 29, 3, 7);
    ExpectMoved(other, src, 5, 32, 40, 32);
  });
}

TEST(Textract, TakesAPartOfAnAccumulator) {
  OnCube([] {
    Acc<float, 32, 64> src(32, 64);
    MatNz<half, 16, 32> dst(15, 31);
    TASSIGN(src, 0);
    TASSIGN(dst, 0);
    Fill(src, [](int row, int col) { return row - col; });
    TEXTRACT(dst, src, 16, 16);
    for (int row = 0; row < 15; ++row) {
      for (int col = 0; col < 31; ++col) {
        ASSERT_EQ(static_cast<float>(At(dst, row, col)), row - col);
      }
    }
    TEXTRACT<decltype(dst), decltype(src), ReluPreMode::NormalRelu>(dst, src, 16, 16);
    EXPECT_EQ(static_cast<float>(At(dst, 3, 9)), 0.0f);
    EXPECT_EQ(static_cast<float>(At(dst, 9, 3)), 6.0f);
  });
}

TEST(TextractFault, NamesAnOriginWithinABox) {
  const auto at = [](uint16_t row, uint16_t col) {
    return [row, col] {
      LeftZz<half, 16, 16> dst(16, 16);
      MatNz<half, 64, 64> src(64, 64);
      TASSIGN(dst, 0);
      TASSIGN(src, 0);
      TEXTRACT(dst, src, row, col);
    };
  };
  ExpectContains(FaultOf(at(8, 0), On::kCube),
                 "TEXTRACT: expected a row of a multiple of 16, got 8");
  ExpectContains(FaultOf(at(0, 8), On::kCube),
                 "TEXTRACT: expected a column of a multiple of 16, got 8");
  ExpectContains(FaultOf(at(64, 0), On::kCube),
                 "TEXTRACT: expected 16x16 elements of the Left half tile of 16x16 within the Mat "
                 "half tile of 64x64, got row 64, column 0");
  OnCube(at(48, 48));
}

TEST(TextractFault, NamesAColumnOfAVecTileThatIsNotABlock) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 8, 8> dst(8, 8);
                   VecTile<float, 8, 32> src(8, 32);
                   TASSIGN(dst, 0);
                   TASSIGN(src, 4096);
                   TEXTRACT(dst, src, 0, 4);
                 }),
                 "TEXTRACT: expected a column of a multiple of 8, got 4");
}

}  // namespace
