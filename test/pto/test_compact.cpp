// SPDX-License-Identifier: Apache-2.0
// Compact tiles, whose elements lie as if their valid region was their extent: larger than their
// space, and next to each other.
#include <type_traits>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::At;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::MatNz;
using test::Matrix;
using test::MatZn;
using test::On;
using test::OnCube;

/// Small whole numbers: sums are exact.
int Number(int row, int col, int seed) { return (row * 7 + col * 3 + seed) % 9 - 4; }

struct Sizes {
  int m, k, n;
};

/// c = part of a at row, k0 times part of b at k0, col, from L1 tiles in either order.
template <class T, int kM, int kK, int kN, class AMat, class BMat>
void CheckProduct(Sizes size, int row, int k0, int col) {
  using C = std::conditional_t<std::is_same_v<T, int8_t>, int32_t, float>;
  std::vector<C> global(static_cast<size_t>(size.m) * size.n, C(-99));
  OnCube([&] {
    AMat a_mat(AMat::Rows, AMat::Cols);
    BMat b_mat(BMat::Rows, BMat::Cols);
    TileLeftCompact<T, kM, kK, -1, -1> a(size.m, size.k);
    TileRightCompact<T, kK, kN, -1, -1> b(size.k, size.n);
    TileAccCompact<C, kM, kN, -1, -1> c(size.m, size.n);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    TASSIGN(a_mat, 0);
    Fill(a_mat, [](int r, int c) { return Number(r, c, 1); });
    TEXTRACT(a, a_mat, row, k0);
    TASSIGN(b_mat, 0);
    Fill(b_mat, [](int r, int c) { return Number(r, c, 5); });
    TEXTRACT(b, b_mat, k0, col);
    TMATMUL(c, a, b);
    TMATMUL_ACC(c, a, b);
    Matrix<C> target(global.data(), {size.m, size.n}, {size.n, 1});
    TSTORE(target, c);
  });
  for (int m = 0; m < size.m; ++m) {
    for (int n = 0; n < size.n; ++n) {
      int sum = 0;
      for (int k = 0; k < size.k; ++k) {
        sum += Number(row + m, k0 + k, 1) * Number(k0 + k, col + n, 5);
      }
      ASSERT_EQ(global[m * size.n + n], static_cast<C>(2 * sum)) << m << " " << n;
    }
  }
}

template <class T, int kM, int kK, int kN>
void CheckProducts(Sizes size, int row, int k0, int col) {
  CheckProduct<T, kM, kK, kN, MatNz<T, kM, kK>, MatZn<T, kK, kN>>(size, row, k0, col);
  CheckProduct<T, kM, kK, kN, MatZn<T, kM, kK>, MatNz<T, kK, kN>>(size, row, k0, col);
}

TEST(Compact, ProductsOfTilesThatAreLargerThanTheirSpace) {
  CheckProducts<float, 128, 256, 128>({20, 215, 22}, 0, 0, 0);
  CheckProducts<float, 128, 256, 128>({36, 199, 22}, 16, 32, 16);
  CheckProducts<half, 256, 256, 256>({33, 65, 250}, 32, 64, 0);
  CheckProducts<bfloat16_t, 256, 192, 128>({220, 25, 30}, 32, 16, 16);
  CheckProducts<int8_t, 256, 384, 128>({46, 36, 99}, 64, 32, 0);
}

TEST(Compact, OneRowAndOneColumn) { CheckProducts<half, 128, 512, 128>({1, 17, 1}, 16, 16, 32); }

TEST(Compact, TilesMayStandNextToEachOther) {
  OnCube([] {
    MatNz<half, 64, 32> source(64, 32);
    TASSIGN(source, 0);
    Fill(source, [](int row, int col) { return Number(row, col, 0); });
    TileLeftCompact<half, 256, 256, -1, -1> first(17, 30), second(32, 32);
    TASSIGN(first, 0);
    TASSIGN(second, 32 * 32 * 2);  // behind 17 x 30 in whole boxes
    TMOV(first, source);
    TEXTRACT(second, source, 32, 0);
    for (int row = 0; row < 32; ++row) {
      for (int col = 0; col < 32; ++col) {  // rows of boxes of 16 x 16, box after box
        const size_t at = (row / 16 * 2 + col / 16) * 256 + row % 16 * 16 + col % 16;
        ASSERT_EQ(static_cast<float>(first.data()[at]), Number(row, col, 0)) << row << " " << col;
        ASSERT_EQ(static_cast<float>(second.data()[at]), Number(row + 32, col, 0));
      }
    }
  });
}

TEST(Compact, AccumulatorsGoToL1) {
  OnCube([] {
    TileAccCompact<float, 256, 256, -1, -1> acc(20, 30);
    MatNz<half, 32, 32> dst(20, 30);
    TASSIGN(acc, 0);
    TASSIGN(dst, 0);
    for (int row = 0; row < 32; ++row) {
      for (int col = 0; col < 32; ++col) {  // columns of boxes of 16 x 16
        acc.data()[col / 16 * (32 * 16) + row * 16 + col % 16] = Number(row, col, 3);
      }
    }
    TMOV(dst, acc);
    for (int row = 0; row < 20; ++row) {
      for (int col = 0; col < 30; ++col) {
        ASSERT_EQ(static_cast<float>(At(dst, row, col)), Number(row, col, 3)) << row << " " << col;
      }
    }
  });
}

TEST(CompactFault, NamesAValidRegionThatDoesNotFit) {
  ExpectContains(FaultOf(
                     [] {
                       TileRightCompact<float, 256, 128, -1, -1> tile(256, 128);
                       TASSIGN(tile, 0);
                     },
                     On::kCube),
                 "TASSIGN: expected the Right float tile of 256x128 (131072 bytes) to end within "
                 "the 65536 bytes of L0B on Ascend910B1, got address 0, end 131072");
}

TEST(CompactFault, NamesAValidRegionThatGrewBeyondItsSpace) {
  ExpectContains(FaultOf(
                     [] {
                       TileLeftCompact<float, 128, 256, -1, -1> tile(16, 8);
                       MatNz<float, 128, 256> source(128, 256);
                       TASSIGN(tile, 32768);
                       TASSIGN(source, 0);
                       tile.SetValidShape(33, 255);
                       TMOV(tile, source);
                     },
                     On::kCube),
                 "TMOV: expected a valid region of dst, a compact Left float tile of 128x256, that "
                 "ends within the 65536 bytes of L0A on Ascend910B1, got 33x255, end 81920");
}

TEST(CompactFault, NamesAnAccumulatorThatIsTooSmall) {
  ExpectContains(
      FaultOf(
          [] {
            TileLeftCompact<half, 128, 64, -1, -1> a(40, 16);
            TileRightCompact<half, 64, 64, -1, -1> b(16, 16);
            TileAccCompact<float, 128, 64, -1, -1> c(30, 16);
            TASSIGN(a, 0);
            TASSIGN(b, 0);
            TASSIGN(c, 0);
            TMATMUL(c, a, b);
          },
          On::kCube),
      "TMATMUL: expected c of at least 40x16, got a compact Acc float tile of 128x64 with "
      "30x16 valid elements");
}

}  // namespace
