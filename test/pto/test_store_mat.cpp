// SPDX-License-Identifier: Apache-2.0
// Transfers between L1 and global memory, atomic additions of the vector core.
#include <limits>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::At;
using test::BitsOf;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::MatNd;
using test::MatNz;
using test::Matrix;
using test::MatZn;
using test::On;
using test::OnCore;
using test::OnCube;
using test::VecTile;

template <class T>
using Columns = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, 1, -1>, Layout::DN>;

template <class T>
T Mark(int row, int col) {
  return static_cast<T>((row * 7 + col * 3) % 120 - 20);
}

/// A matrix of rows x cols in memory, row by row or column by column, with gaps of -1.
template <class T>
std::vector<T> MakeMatrix(int rows, int cols, int pitch, bool by_rows) {
  std::vector<T> data(static_cast<size_t>(by_rows ? rows : cols) * pitch, T(-1));
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      data[by_rows ? row * pitch + col : col * pitch + row] = Mark<T>(row, col);
    }
  }
  return data;
}

/// Inside the matrix its elements, behind it to the end of the 32 bytes of a line pad, else before.
template <class T, class TileT>
void ExpectLoaded(const TileT& tile, int rows, int cols, bool by_rows, T pad, T before) {
  constexpr int kC0 = 32 / sizeof(T);
  const int row_end = by_rows ? rows : (rows + kC0 - 1) / kC0 * kC0;
  const int col_end = by_rows ? (cols + kC0 - 1) / kC0 * kC0 : cols;
  for (int row = 0; row < TileT::Rows; ++row) {
    for (int col = 0; col < TileT::Cols; ++col) {
      const bool inside = row < rows && col < cols;
      const bool padded = row < row_end && col < col_end;
      const T expected = inside ? Mark<T>(row, col) : padded ? pad : before;
      ASSERT_EQ(BitsOf(At(tile, row, col)), BitsOf(expected)) << row << " " << col;
    }
  }
}

template <class T>
void CheckBoxing(int rows, int cols) {
  auto by_rows = MakeMatrix<T>(rows, cols, cols + 3, true);
  auto by_cols = MakeMatrix<T>(rows, cols, rows + 5, false);
  OnCube([&] {
    MatNz<T, 32, 64> nz(rows, cols);
    MatZn<T, 32, 64> zn(rows, cols);
    TASSIGN(nz, 0);
    TASSIGN(zn, 65536);
    Fill(nz, [](int, int) { return 5; });
    Fill(zn, [](int, int) { return 5; });
    Matrix<T> row_source(by_rows.data(), {rows, cols}, {cols + 3, 1});
    TLOAD(nz, row_source);
    ExpectLoaded<T>(nz, rows, cols, true, T(0), T(5));
    Columns<T> col_source(by_cols.data(), {rows, cols}, {rows + 5});
    TLOAD(zn, col_source);
    ExpectLoaded<T>(zn, rows, cols, false, T(0), T(5));
  });
}

TEST(TloadMat, CutsMatricesIntoBoxes) {
  CheckBoxing<half>(32, 64);
  CheckBoxing<half>(19, 45);
  CheckBoxing<float>(31, 3);
  CheckBoxing<int8_t>(1, 64);
  CheckBoxing<bfloat16_t>(17, 33);
}

TEST(TloadMat, TakesTheShapesThatKernelsNameByRowsAndColumns) {
  auto matrix = MakeMatrix<half>(64, 96, 96, true);
  OnCube([&] {
    Tile<TileType::Mat, half, 32, 48, BLayout::ColMajor, 32, 48, SLayout::RowMajor> tile;
    TASSIGN<0>(tile);
    GlobalTensor<half, TileShape2D<half, 32, 48>, BaseShape2D<half, 64, 96>> source(matrix.data());
    TLOAD(tile, source);
    for (int r = 0; r < 32; ++r) {
      for (int c = 0; c < 48; ++c) ASSERT_EQ(At(tile, r, c), Mark<half>(r, c)) << r << " " << c;
    }
    using Any = GlobalTensor<half, TileShape2D<half>, BaseShape2D<half>>;
    Any dynamic(matrix.data(), TileShape2D<half>(32, 48), BaseShape2D<half>(64, 96));
    Fill(tile, [](int, int) { return 0; });
    TLOAD(tile, dynamic);
    EXPECT_EQ(At(tile, 31, 47), Mark<half>(31, 47));
    EXPECT_EQ(dynamic.GetStride(3), 96);
    EXPECT_EQ((GlobalTensor<half, TileShape2D<half, 32, 48, Layout::NZ>,
                            BaseShape2D<half, 64, 96, Layout::NZ>, Layout::NZ>::GetStride<1>()),
              64 * 16);
  });
}

TEST(TloadMat, MovesBoxesAndLinesAsTheyAre) {
  std::vector<half> boxes(32 * 64), lines(8 * 64), back_boxes(32 * 64), back_lines(8 * 64);
  for (size_t i = 0; i < boxes.size(); ++i) boxes[i] = static_cast<half>(static_cast<int>(i));
  for (size_t i = 0; i < lines.size(); ++i) lines[i] = static_cast<half>(static_cast<int>(i) % 99);
  using Nz = GlobalTensor<half, TileShape2D<half, 32, 64, Layout::NZ>,
                          BaseShape2D<half, 32, 64, Layout::NZ>, Layout::NZ>;
  OnCube([&] {
    MatNz<half, 48, 64> nz(32, 64);
    MatNd<half, 8, 80> nd(8, 64);
    TASSIGN(nz, 0);
    TASSIGN(nd, 16384);
    Nz box_source(boxes.data()), box_target(back_boxes.data());
    Matrix<half> line_source(lines.data(), {8, 64}, {64, 1}),
        line_target(back_lines.data(), {8, 64}, {64, 1});
    TLOAD(nz, box_source);
    TLOAD(nd, line_source);
    for (int row = 0; row < 32; ++row) {
      for (int col = 0; col < 64; ++col) {
        ASSERT_EQ(At(nz, row, col), boxes[(col / 16 * 32 + row) * 16 + col % 16]);
      }
    }
    TSTORE(box_target, nz);
    TSTORE(line_target, nd);
  });
  EXPECT_EQ(back_boxes, boxes);
  EXPECT_EQ(back_lines, lines);
}

TEST(TloadMat, TakesASingleRowOfAnyLength) {
  auto matrix = MakeMatrix<float>(1, 29, 29, true);
  OnCube([&] {
    MatNd<float, 1, 64> tile(1, 29);
    TASSIGN(tile, 0);
    Fill(tile, [](int, int) { return 5; });
    Matrix<float> source(matrix.data(), {1, 29}, {29, 1});
    TLOAD(tile, source);
    ExpectLoaded<float>(tile, 1, 29, true, 0.0f, 5.0f);
  });
}

TEST(TloadMat, PadsWithTheValueOfTheTile) {
  auto matrix = MakeMatrix<half>(16, 17, 17, true);
  constexpr PadValue kPad = PadValueCustom(static_cast<half>(-1.5f));
  OnCube([&] {
    Tile<TileType::Mat, half, 16, 32, BLayout::ColMajor, 16, 17, SLayout::RowMajor, 512, kPad> tile;
    TASSIGN(tile, 0);
    Matrix<half> source(matrix.data(), {16, 17}, {17, 1});
    TLOAD(tile, source);
    ExpectLoaded<half>(tile, 16, 17, true, static_cast<half>(-1.5f), half{});
  });
}

template <class T>
void CheckVecAtomic() {
  std::vector<T> global(4 * 20, T(1));
  OnCore(
      [&] {
        VecTile<T, 4, 32> tile(4, 17);
        TASSIGN(tile, 0);
        Fill(tile, [](int row, int col) { return row - col; });
        Matrix<T> target(global.data(), {4, 17}, {20, 1});
        TSTORE<decltype(tile), decltype(target), AtomicType::AtomicAdd>(target, tile);
      },
      5);
  for (int i = 0; i < 4 * 20; ++i) {
    const int row = i / 20, col = i % 20;
    ASSERT_EQ(static_cast<float>(global[i]), col < 17 ? 1 + 5 * (row - col) : 1) << i;
  }
}

TEST(TstoreVec, AddsToGlobalMemoryFromAllBlocks) {
  CheckVecAtomic<float>();
  CheckVecAtomic<half>();
  CheckVecAtomic<bfloat16_t>();
  CheckVecAtomic<int32_t>();
  CheckVecAtomic<int16_t>();
  CheckVecAtomic<int8_t>();
}

TEST(TstoreVecFault, NamesATypeThatCannotBeAdded) {
  std::vector<uint32_t> global(8);
  // The unit adds signed integers only; the bits of an unsigned tile are refused, not guessed.
  ExpectContains(FaultOf([&] {
                   VecTile<uint32_t, 1, 8> tile(1, 8);
                   TASSIGN(tile, 0);
                   Matrix<uint32_t> target(global.data(), {1, 8}, {8, 1});
                   TSTORE<decltype(tile), decltype(target), AtomicType::AtomicAdd>(target, tile);
                 }),
                 "TSTORE: expected elements of type int8, int16, int32, half, bfloat16 or float on "
                 "Ascend910B1, got uint32");
}

TEST(TransferFault, NamesLayoutsWithoutAPath) {
  std::vector<half> global(64 * 64);
  ExpectContains(FaultOf(
                     [&] {
                       MatZn<half, 32, 32> tile(32, 32);
                       TASSIGN(tile, 0);
                       Matrix<half> source(global.data(), {32, 32}, {64, 1});
                       TLOAD(tile, source);
                     },
                     On::kCube),
                 "got ND and ZN, the Mat half tile of 32x32");
  ExpectContains(FaultOf([&] {
                   VecTile<half, 32, 32> tile(32, 32);
                   TASSIGN(tile, 0);
                   Columns<half> source(global.data(), {32, 32}, {64});
                   TLOAD(tile, source);
                 }),
                 "got DN and ND, the Vec half tile of 32x32");
}

TEST(TransferFault, NamesMatricesBeyondTheFieldsOfTheInstruction) {
  std::vector<half> global(64);
  const auto load = [&](int64_t cols, int64_t pitch) {
    return FaultOf(
        [&] {
          MatNz<half, 16, 16> tile(1, 16);
          TASSIGN(tile, 0);
          Matrix<half> source(global.data(), {int64_t{1}, cols}, {pitch, int64_t{1}});
          TLOAD(tile, source);
        },
        On::kCube);
  };
  ExpectContains(load(16, 65536), "TLOAD: expected stride[3] from 0 to 65535, got 65536");
  ExpectContains(load(32, 64),
                 "TLOAD: expected a global tensor of at most 16x16 elements (the extent of the "
                 "tile), got 1x32");
}

TEST(TransferFault, NamesLinesOfPartsOfABlockBetweenL1AndMemory) {
  std::vector<half> global(64);
  ExpectContains(FaultOf(
                     [&] {
                       MatNd<half, 2, 16> tile(2, 8);
                       TASSIGN(tile, 0);
                       Matrix<half> source(global.data(), {2, 8}, {16, 1});
                       TLOAD(tile, source);
                     },
                     On::kCube),
                 "TLOAD: expected lines of a multiple of 32 bytes, between L1 and global memory, "
                 "got 8 elements of 2 bytes");
}

TEST(TransferFault, NamesTooManyBursts) {
  std::vector<half> global(16 * 4096);
  ExpectContains(FaultOf(
                     [&] {
                       MatNd<half, 4096, 16> tile(4096, 16);
                       TASSIGN(tile, 0);
                       Matrix<half> source(global.data(), {4096, 16}, {16, 1});
                       TLOAD(tile, source);
                     },
                     On::kCube),
                 "TLOAD: expected shape[3] from 0 to 4095, got 4096");
}

}  // namespace
