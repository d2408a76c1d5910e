// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::At;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::MatNz;
using test::On;
using test::OnCore;
using test::OnCube;

template <class T, int kRows, int kCols>
using VecNd = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, -1, -1>;
template <class T, int kRows, int kCols>
using VecNz = Tile<TileType::Vec, T, kRows, kCols, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;

int Number(int row, int col) { return (row * 7 + col * 3) % 100; }

/// rows x cols of src land at row, col; everything else stays.
template <class Dst, class Src>
void CheckVec(int rows, int cols, int row, int col) {
  OnCore([&] {
    Dst dst(Dst::Rows, Dst::Cols);
    Src src(rows, cols);
    TASSIGN(dst, 0);
    TASSIGN(src, 65536);
    Fill(dst, [](int, int) { return -1; });
    Fill(src, Number);
    TINSERT(dst, src, row, col);
    for (int r = 0; r < Dst::Rows; ++r) {
      for (int c = 0; c < Dst::Cols; ++c) {
        const bool inside = r >= row && r < row + rows && c >= col && c < col + cols;
        const float expected = inside ? Number(r - row, c - col) : -1.0f;
        ASSERT_EQ(static_cast<float>(At(dst, r, c)), expected) << r << " " << c;
      }
    }
  });
}

TEST(Tinsert, PutsVecTilesAnywhereAtBlocks) {
  CheckVec<VecNd<float, 32, 64>, VecNd<float, 16, 32>>(11, 29, 5, 24);
  CheckVec<VecNd<half, 32, 64>, VecNd<half, 16, 32>>(16, 32, 16, 32);
  CheckVec<VecNd<int8_t, 8, 64>, VecNd<int8_t, 8, 32>>(3, 30, 1, 32);
  CheckVec<VecNz<half, 64, 64>, VecNz<half, 32, 32>>(17, 23, 32, 16);
  CheckVec<VecNz<int32_t, 32, 32>, VecNz<int32_t, 16, 16>>(16, 16, 16, 8);
  CheckVec<VecNd<float, 16, 16>, VecNd<float, 1, 8>>(1, 1, 7, 3);  // one element, anywhere
  CheckVec<VecNz<half, 32, 32>, VecNz<half, 16, 16>>(1, 1, 9, 21);
}

/// All rows of src, its valid columns up to whole boxes of dst.
template <class Out, class In, class Expected, class Insert>
void CheckAcc(int rows, int cols, int row, int col, const Insert& insert,
              const Expected& expected) {
  OnCube([&] {
    MatNz<Out, 64, 64> dst(64, 64);
    Acc<In, 32, 32> src(rows, cols);
    TASSIGN(dst, 0);
    TASSIGN(src, 0);
    Fill(dst, [](int, int) { return 1; });
    Fill(src, [](int r, int c) { return static_cast<In>((r * 5 - c * 3) * 10); });
    insert(dst, src);
    constexpr int kC0 = 32 / sizeof(Out);
    for (int r = 0; r < 64; ++r) {
      for (int c = 0; c < 64; ++c) {
        const int to_row = r - row, to_col = c - col;
        const bool inside =
            to_row >= 0 && to_row < 32 && to_col >= 0 && to_col < (cols + kC0 - 1) / kC0 * kC0;
        const float value = inside ? expected((to_row * 5 - to_col * 3) * 10, to_col) : 1.0f;
        ASSERT_EQ(static_cast<float>(At(dst, r, c)), value) << r << " " << c;
      }
    }
  });
}

TEST(Tinsert, ConvertsAccumulators) {
  const auto same = [](int x, int) { return static_cast<float>(x); };
  const auto positive = [](int x, int) { return static_cast<float>(std::max(x, 0)); };
  CheckAcc<half, float>(19, 21, 16, 16, [](auto& d, auto& s) { TINSERT(d, s, 16, 16); }, same);
  CheckAcc<bfloat16_t, float>(
      32, 32, 32, 0,
      [](auto& d, auto& s) {
        TINSERT<std::decay_t<decltype(d)>, std::decay_t<decltype(s)>, ReluPreMode::NormalRelu>(
            d, s, 32, 0);
      },
      [&](int x, int c) { return static_cast<float>(bfloat16_t(positive(x, c))); });
}

TEST(Tinsert, QuantizesAccumulators) {
  const auto word = [](float scale, uint64_t more) {
    uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof(bits));
    return more | bits;
  };
  const uint64_t into_int8 = word(0.25f, uint64_t{1} << 46);
  CheckAcc<int8_t, float>(
      32, 32, 0, 32, [&](auto& d, auto& s) { TINSERT(d, s, into_int8, 0, 32); },
      [](int x, int) { return std::clamp(std::nearbyint(x * 0.25f), -128.0f, 127.0f); });
  CheckAcc<int16_t, int32_t>(
      32, 20, 3, 16, [&](auto& d, auto& s) { TINSERT(d, s, uint64_t{2} << 32, 3, 16); },
      [](int x, int) { return static_cast<float>(x >> 3); });
  Tile<TileType::Scaling, uint64_t, 1, 32> words;
  CheckAcc<half, int32_t>(
      32, 32, 16, 16,
      [&](auto& d, auto& s) {
        TASSIGN(words, 0);
        for (int c = 0; c < 32; ++c) words.data()[c] = word(1.0f + c, 0);
        TINSERT_FP<std::decay_t<decltype(d)>, std::decay_t<decltype(s)>, decltype(words)>(
            d, s, words, 16, 16);
      },
      [](int x, int c) { return static_cast<float>(half(x * (1.0f + c))); });
}

template <class Dst, class Src>
std::string VecFault(int rows, int cols, int row, int col) {
  return FaultOf([&] {
    Dst dst(Dst::Rows, Dst::Cols);
    Src src(rows, cols);
    TASSIGN(dst, 0);
    TASSIGN(src, 65536);
    TINSERT(dst, src, row, col);
  });
}

TEST(Tinsert, NamesWhatItRefuses) {
  ExpectContains((VecFault<VecNd<float, 16, 16>, VecNd<float, 16, 16>>(4, 8, 0, 4)),
                 "TINSERT: expected a column of a multiple of 8, got 4");
  ExpectContains((VecFault<VecNz<half, 32, 32>, VecNz<half, 16, 16>>(16, 16, 8, 0)),
                 "TINSERT: expected a row of a multiple of 16, got 8");
  ExpectContains((VecFault<VecNd<float, 16, 16>, VecNd<float, 16, 16>>(10, 8, 7, 0)),
                 "TINSERT: expected 10x8 elements of the Vec float tile of 16x16 within the Vec "
                 "float tile of 16x16, got row 7, column 0");
  const std::string into_vec = FaultOf(
      [] {
        VecNd<float, 16, 16> dst(16, 16);
        Acc<float, 16, 16> src(16, 16);
        TASSIGN(src, 0);
        TINSERT(dst, src, 0, 0);
      },
      On::kCube);
  ExpectContains(into_vec, "TINSERT: expected a chip that moves an Acc tile to a Vec tile (A5)");
  const std::string off_box = FaultOf(
      [] {
        MatNz<half, 64, 64> dst(64, 64);
        Acc<float, 16, 16> src(16, 16);
        TASSIGN(dst, 0);
        TASSIGN(src, 0);
        TINSERT(dst, src, 0, 8);
      },
      On::kCube);
  ExpectContains(off_box, "TINSERT: expected a column of a multiple of 16, got 8");
}

template <class T, int kRows, int kCols, int kC0 = static_cast<int>(32 / sizeof(T))>
using Boxes = GlobalTensor<T, Shape<1, kCols / kC0, kRows / 16, 16, kC0>,
                           Stride<kRows * kCols, kRows * kC0, 16 * kC0, kC0, 1>, Layout::NZ>;

/// rows x cols of a Vec tile of layout NZ into boxes: whole runs of 32 bytes, the rows that are
/// valid.
template <class T, int kRows, int kCols>
void CheckStoreOfBoxes(int rows, int cols) {
  constexpr int kC0 = 32 / sizeof(T);
  std::vector<T> global(kRows * kCols, T(9));
  OnCore([&] {
    VecNz<T, 32, 64> tile(rows, cols);
    TASSIGN(tile, 0);
    Fill(tile, Number);
    Boxes<T, kRows, kCols> boxes(global.data());
    TSTORE(boxes, tile);
  });
  for (int i = 0; i < kRows * kCols; ++i) {
    const int row = i / kC0 % kRows, col = i / kC0 / kRows * kC0 + i % kC0;
    const float expected = row < rows ? Number(row, col) : 9.0f;
    ASSERT_EQ(static_cast<float>(global[i]), expected) << row << " " << col;
  }
}

TEST(TstoreNz, StoresWholeBoxes) {
  CheckStoreOfBoxes<int8_t, 32, 64>(32, 63);
  CheckStoreOfBoxes<half, 32, 48>(32, 33);
  CheckStoreOfBoxes<half, 16, 16>(1, 1);
  CheckStoreOfBoxes<float, 32, 8>(17, 8);
}

}  // namespace
