// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "moved_tiles.hpp"

namespace {

using namespace pto;
using test::At;
using test::Bias;
using test::BitsOf;
using test::ExpectContains;
using test::ExpectMoved;
using test::FaultOf;
using test::Fill;
using test::LeftNz;
using test::LeftZz;
using test::Mark;
using test::MatNd;
using test::MatNz;
using test::Matrix;
using test::MatZn;
using test::On;
using test::OnCore;
using test::OnCube;
using test::Right;
using test::VecTile;

template <class Dst, class Src>
void CheckMove() {
  Dst dst(Dst::Rows, Dst::Cols);
  Src src(Src::Rows, Src::Cols);
  TASSIGN(dst, 0);
  TASSIGN(src, 0);
  Fill(src, Mark);
  Fill(dst, [](int, int) { return 1; });
  TMOV(dst, src);
  ExpectMoved(dst, src, Dst::Rows, Dst::Cols);
}

template <class T>
class TmovOperand : public testing::Test {};
/// Names an element type: half itself has no typeid in every compiler.
template <class T>
struct Element {
  using Type = T;
};
using OperandTypes =
    testing::Types<Element<int8_t>, Element<half>, Element<bfloat16_t>, Element<float>>;
TYPED_TEST_SUITE(TmovOperand, OperandTypes);

TYPED_TEST(TmovOperand, MatToLeftAndRightInEveryPairOfLayouts) {
  using T = typename TypeParam::Type;
  OnCube([] {
    CheckMove<LeftZz<T, 64, 32>, MatNz<T, 64, 32>>();
    CheckMove<LeftNz<T, 64, 32>, MatNz<T, 64, 32>>();
    CheckMove<LeftZz<T, 64, 32>, MatZn<T, 64, 32>>();
    CheckMove<LeftNz<T, 64, 32>, MatZn<T, 64, 32>>();
    CheckMove<Right<T, 32, 64>, MatZn<T, 32, 64>>();
    CheckMove<Right<T, 32, 64>, MatNz<T, 32, 64>>();
  });
}

TYPED_TEST(TmovOperand, OneRowStaysContiguous) {
  using T = typename TypeParam::Type;
  OnCube([] { CheckMove<LeftZz<T, 1, 512>, MatNd<T, 1, 512>>(); });
}

template <class To, class From>
void CheckBias() {
  Bias<To, 64> dst(64);
  MatNd<From, 1, 64> src(1, 64);
  TASSIGN(dst, 0);
  TASSIGN(src, 0);
  Fill(src, [](int, int col) { return col * 0.5f - 7; });
  TMOV(dst, src);
  for (int col = 0; col < 64; ++col) {
    ASSERT_EQ(At(dst, 0, col), static_cast<To>(At(src, 0, col))) << col;
  }
}

TEST(Tmov, BiasKeepsItsTypeOrGrowsToFloat) {
  OnCube([] {
    CheckBias<int32_t, int32_t>();
    CheckBias<float, float>();
    CheckBias<float, half>();
  });
}

template <int kCols>
using Words = Tile<TileType::Scaling, uint64_t, 1, kCols, BLayout::RowMajor, 1, -1>;

TEST(Tmov, ScalingTakesWordsOf64Bits) {
  OnCube([] {
    Words<32> dst(32);
    MatNd<uint64_t, 1, 32> src(1, 32);
    TASSIGN(dst, 0);
    TASSIGN(src, 0);
    Fill(src, [](int, int col) { return 0x0123456789abcdefull + col; });
    TMOV(dst, src);
    ExpectMoved(dst, src, 1, 32);
  });
}

TEST(Tmov, VecTakesWhatBothRegionsHave) {
  OnCore([] {
    VecTile<float, 8, 16> dst(7, 16);
    VecTile<float, 16, 32> src(9, 13);
    TASSIGN(dst, 0);
    TASSIGN(src, 4096);
    Fill(src, Mark);
    Fill(dst, [](int, int) { return -1; });
    TMOV(dst, src);
    ExpectMoved(dst, src, 7, 13);
    for (int row = 0; row < 8; ++row) {
      for (int col = 0; col < 16; ++col) {
        if (row < 7 && col < 13) continue;
        ASSERT_EQ(At(dst, row, col), -1.0f) << row << " " << col;
      }
    }
  });
}

TEST(Tmov, VecChangesLayout) {
  using Nz = Tile<TileType::Vec, half, 32, 48, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
  using Columns = Tile<TileType::Vec, half, 32, 48, BLayout::ColMajor, -1, -1>;
  const auto check = [](int valid_rows, int valid_cols) {
    OnCore([=] {
      VecTile<half, 32, 48> rows(valid_rows, valid_cols);
      Nz boxes(valid_rows, valid_cols);
      Columns columns(valid_rows, valid_cols);
      TASSIGN(rows, 0);
      TASSIGN(boxes, 8192);
      TASSIGN(columns, 16384);
      Fill(rows, Mark);
      TMOV(boxes, rows);
      ExpectMoved(boxes, rows, valid_rows, valid_cols);
      TMOV(columns, boxes);
      ExpectMoved(columns, rows, valid_rows, valid_cols);
      Fill(rows, [](int, int) { return 0; });
      TMOV(rows, columns);
      ExpectMoved(rows, boxes, valid_rows, valid_cols);
      ASSERT_TRUE(valid_cols == 48 || At(rows, 0, valid_cols) == 0);
    });
  };
  check(31, 45);
  check(32, 48);
  check(24, 40);
}

TEST(Textract, CountsTwoElementsOf4BitsToAByte) {
  const auto extract = [](uint16_t col) {
    VecTile<float4_e2m1x2_t, 4, 128> src(4, 128);
    VecTile<float4_e2m1x2_t, 2, 64> dst(2, 64);
    TASSIGN(src, 0);
    TASSIGN(dst, 1024);
    auto* const from = reinterpret_cast<uint8_t*>(src.data());
    for (int i = 0; i < 4 * 64; ++i) from[i] = static_cast<uint8_t>(i);
    TEXTRACT(dst, src, 1, col);
    const auto* const to = reinterpret_cast<const uint8_t*>(dst.data());
    for (int i = 0; i < 2 * 32; ++i) ASSERT_EQ(to[i], (1 + i / 32) * 64 + 32 + i % 32) << i;
  };
  OnCore([&] { extract(64); });
  ExpectContains(FaultOf([&] { extract(63); }),
                 "TEXTRACT: expected an even column of elements of 4 bits, got 63");
}

TEST(Textract, StartsAtAnyColumnOnA5) {
  const auto extract = [](bool is_a5) {
    return [is_a5] {
      std::optional<test::AsA5> chip;
      if (is_a5) chip.emplace();
      VecTile<float, 16, 24> src(16, 24);
      VecTile<float, 8, 8> dst(8, 8);
      TASSIGN(src, 0);
      TASSIGN(dst, 4096);
      for (int i = 0; i < 16 * 24; ++i) src.SetValue(i, static_cast<float>(i));
      TEXTRACT(dst, src, 2, 3);
      for (int i = 0; i < 64; ++i) ASSERT_EQ(dst.GetValue(i), (2 + i / 8) * 24 + 3 + i % 8);
    };
  };
  OnCore(extract(true));
  ExpectContains(FaultOf(extract(false)), "TEXTRACT: expected a column of a multiple of 8, got 3");
}

/// Elements of 4 bits of a tile, by their number along its lines.
uint8_t CodeAt(const uint8_t* bytes, int line, int length, int at) {
  return bytes[line * length / 2 + at / 2] >> (at % 2 * 4) & 0xf;
}

TEST(Tmov, TurnsElementsOf4BitsOneByOne) {
  using Pair = float4_e2m1x2_t;
  using Columns = Tile<TileType::Vec, Pair, 64, 32, BLayout::ColMajor, -1, -1>;
  OnCore([] {
    VecTile<Pair, 64, 64> src(64, 64);
    Columns dst(51, 31);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    auto* const from = reinterpret_cast<uint8_t*>(src.data());
    auto* const to = reinterpret_cast<uint8_t*>(dst.data());
    for (int i = 0; i < 64 * 32; ++i) from[i] = static_cast<uint8_t>(i * 37 + i / 32);
    std::fill_n(to, 32 * 32, uint8_t{0xee});
    TMOV(dst, src);
    for (int r = 0; r < 64; ++r) {
      for (int c = 0; c < 32; ++c) {
        const int expected = r < 51 && c < 31 ? CodeAt(from, r, 64, c) : 0xe;
        ASSERT_EQ(CodeAt(to, c, 64, r), expected) << r << " " << c;
      }
    }
  });
}

TEST(TmovFault, NamesAStrideWithinAByte) {
  ExpectContains(FaultOf([] {
                   std::vector<float4_e2m1x2_t> global(256);
                   VecTile<float4_e2m1x2_t, 4, 64> tile(4, 64);
                   TASSIGN(tile, 0);
                   Matrix<float4_e2m1x2_t> odd(global.data(), {4, 64}, {65, 1});
                   TLOAD(tile, odd);
                 }),
                 "TLOAD: expected even strides of elements of 4 bits, got 65");
}

TEST(TmovFault, NamesATileThatIsTooSmall) {
  ExpectContains(FaultOf(
                     [] {
                       LeftZz<half, 32, 32> dst(32, 32);
                       MatNz<half, 16, 32> src(16, 32);
                       TASSIGN(dst, 0);
                       TASSIGN(src, 0);
                       TMOV(dst, src);
                     },
                     On::kCube),
                 "TMOV: expected 32x32 elements of the Left half tile of 32x32 within the Mat half "
                 "tile of 16x32, got row 0, column 0");
}

TEST(TmovFault, NamesABiasOfPartsOfABurst) {
  ExpectContains(FaultOf(
                     [] {
                       Bias<float, 8> dst(8);
                       MatNd<float, 1, 8> src(1, 8);
                       TASSIGN(dst, 0);
                       TASSIGN(src, 0);
                       TMOV(dst, src);
                     },
                     On::kCube),
                 "TMOV: expected src with bytes for the bias of a multiple of 64, got 32");
}

}  // namespace
