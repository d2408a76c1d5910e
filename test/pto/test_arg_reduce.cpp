// SPDX-License-Identifier: Apache-2.0
// Indices of extremes, products of columns and sums of pairs, against plain loops.
#include <cmath>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::kA3;
using test::kA5;
using test::OnCore;
using test::VecTile;

constexpr int kRows = 40, kCols = 320;

/// Values of T of which many are equal.
template <class T>
std::vector<T> Values(unsigned seed, int many = 30) {
  std::mt19937 random(seed);
  std::vector<T> values(kRows * kCols);
  for (T& value : values) {
    const int number = static_cast<int>(random() % many);
    value = static_cast<T>(std::is_unsigned_v<T> ? number : number - many / 2);
  }
  return values;
}

/// Element i of a line by line(i): the first extreme one or the first NaN.
template <class Line>
int FirstExtreme(int length, bool greatest, const Line& line) {
  int at = 0;
  for (int i = 0; i < length; ++i) {
    if (std::isnan(line(i))) return i;
    if (greatest ? line(i) > line(at) : line(i) < line(at)) at = i;
  }
  return at;
}

template <class T, class I>
void CheckRows(int cols, bool a5 = kA3) {
  auto values = Values<T>(1);
  if constexpr (!std::is_integral_v<T>) values[5 * kCols + 2] = static_cast<T>(std::nanf(""));
  OnCore([&] {
    std::optional<test::AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, kRows, kCols> src(kRows - 1, cols), tmp(kRows - 1, cols);
    Tile<TileType::Vec, uint32_t, kRows, 1, BLayout::ColMajor, -1, -1> index(kRows - 1, 1);
    VecTile<T, kRows, 32> value(kRows - 1, 1);
    VecTile<I, kRows, 32> narrow(kRows - 1, 1);
    TASSIGN(src, 0);
    TASSIGN(tmp, 51200);
    TASSIGN(index, 102400);
    TASSIGN(value, 103424);
    TASSIGN(narrow, 110592);
    std::memcpy(static_cast<void*>(src.data()), values.data(), values.size() * sizeof(T));
    for (const bool greatest : {true, false}) {
      if (greatest) {
        TROWARGMAX(index, src, tmp);
        TROWARGMAX(value, narrow, src, tmp);
      } else {
        TROWARGMIN(index, src, tmp);
        TROWARGMIN(value, narrow, src, tmp);
      }
      for (int row = 0; row < kRows - 1; ++row) {
        const int at = FirstExtreme(cols, greatest, [&](int col) {
          return static_cast<double>(values[row * kCols + col]);
        });
        ASSERT_EQ(index.data()[row], static_cast<uint32_t>(at)) << row;
        ASSERT_EQ(narrow.GetValue(row * 32), static_cast<I>(at)) << row;
        ASSERT_TRUE(test::Same(value.GetValue(row * 32), values[row * kCols + at])) << row;
      }
    }
  });
}

TEST(RowArg, FindsTheFirstExtreme) {
  for (const int cols : {1, 3, 64, 65, 317}) {
    CheckRows<float, int32_t>(cols);
    CheckRows<half, uint16_t>(cols);
    CheckRows<half, int32_t>(cols);
    CheckRows<int16_t, int16_t>(cols);
    CheckRows<int32_t, uint32_t>(cols);
    CheckRows<float, uint32_t>(cols, kA5);
  }
}

/// The value that A2/A3 compares: unsigned integers as floats of their bits.
template <class T>
double Compared(T value, bool a5) {
  if constexpr (std::is_same_v<T, uint16_t>) {
    if (!a5) return static_cast<double>(test::BitCast<half>(value));
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    if (!a5) return static_cast<double>(test::BitCast<float>(value));
  }
  return static_cast<double>(value);
}

/// Row after row. A2/A3 keeps what is not passed, and NaN as value but not its row; A5 moves to
/// what passes.
template <class T>
std::pair<int, T> ExtremeOfColumn(const std::vector<T>& values, int col, bool greatest, bool a5) {
  int at = 0;
  T best = values[col];
  for (int row = 1; row < kRows - 1; ++row) {
    const T next = values[row * kCols + col];
    const double held = Compared(best, a5), other = Compared(next, a5);
    if (a5 ? (greatest ? other > held : other < held)
           : !(greatest ? held >= other : held <= other)) {
      at = row;
      if (a5 || !std::isnan(held)) best = next;
    }
  }
  return {at, best};
}

template <class T, class I>
void CheckColumns(std::vector<T> values, bool a5 = kA3) {
  OnCore([&] {
    std::optional<test::AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, kRows, kCols> src(kRows - 1, kCols - 3);
    VecTile<T, 1, kCols> tmp(1, kCols), value(1, kCols - 3);
    VecTile<int32_t, 1, kCols> index(1, kCols - 3);
    VecTile<I, 1, kCols> narrow(1, kCols - 3);
    TASSIGN(src, 0);
    TASSIGN(tmp, 102400);
    TASSIGN(index, 106496);
    TASSIGN(value, 110592);
    TASSIGN(narrow, 114688);
    std::memcpy(static_cast<void*>(src.data()), values.data(), values.size() * sizeof(T));
    for (const bool greatest : {true, false}) {
      if (greatest) {
        TCOLARGMAX(index, src, tmp);
        TCOLARGMAX(value, narrow, src, tmp);
      } else {
        TCOLARGMIN(index, src, tmp);
        TCOLARGMIN(value, narrow, src, tmp);
      }
      for (int col = 0; col < kCols - 3; ++col) {
        const auto [at, best] = ExtremeOfColumn(values, col, greatest, a5);
        ASSERT_EQ(index.GetValue(col), at) << col;
        ASSERT_EQ(narrow.GetValue(col), static_cast<I>(at)) << col;
        ASSERT_TRUE(test::Same(value.GetValue(col), best)) << col;
      }
    }
  });
}

TEST(ColumnArg, FindsTheRowThatTheChipFinds) {
  for (const bool a5 : {kA3, kA5}) {
    auto floats = Values<float>(1);
    auto halves = Values<half>(1);
    floats[3 * kCols + 2] = halves[kCols + 5] = static_cast<half>(std::nanf(""));
    floats[7] = std::nanf("");
    CheckColumns<float, uint32_t>(floats, a5);
    CheckColumns<half, int16_t>(halves, a5);
    CheckColumns<uint16_t, uint16_t>(test::Samples<uint16_t>(kRows * kCols, 3), a5);
    CheckColumns<uint32_t, int32_t>(test::Samples<uint32_t>(kRows * kCols, 4), a5);
  }
  CheckColumns<int32_t, int32_t>(Values<int32_t>(2), kA5);
  CheckColumns<int16_t, uint16_t>(Values<int16_t>(2), kA5);
}

TEST(ColumnArg, RoundsFarIndicesOfHalvesOnA3AsHalfHoldsThem) {
  OnCore([] {
    VecTile<half, 4095, 16> src(4095, 16);
    VecTile<int32_t, 1, 16> index(1, 16);
    VecTile<int16_t, 1, 16> narrow(1, 16);
    VecTile<half, 1, 16> value(1, 16);
    TASSIGN(src, 0);
    TASSIGN(index, 131072);
    TASSIGN(value, 132096);
    TASSIGN(narrow, 133120);
    TEXPANDS(src, half(0));
    src.SetValue(2049 * 16, half(1));
    src.SetValue(2050 * 16 + 1, half(1));
    src.SetValue(2047 * 16 + 2, half(1));
    TCOLARGMAX(index, src, value);
    EXPECT_EQ(index.GetValue(0), 2050);
    EXPECT_EQ(index.GetValue(1), 2050);
    EXPECT_EQ(index.GetValue(2), 2047);
    TCOLARGMAX(value, narrow, src, value);
    EXPECT_EQ(narrow.GetValue(0), 2049);
    const test::AsA5 chip;
    TCOLARGMAX(index, src, value);
    EXPECT_EQ(index.GetValue(0), 2049);
  });
}

template <class T>
void CheckProducts() {
  const auto values = Values<T>(3, 4);
  OnCore([&] {
    VecTile<T, kRows, kCols> src(9, kCols - 1);
    VecTile<T, 1, kCols> dst(1, kCols - 1);
    TASSIGN(src, 0);
    TASSIGN(dst, 102400);
    std::memcpy(static_cast<void*>(src.data()), values.data(), values.size() * sizeof(T));
    TCOLPROD(dst, src);
    for (int col = 0; col < kCols - 1; ++col) {
      T product = values[col];
      for (int row = 1; row < 9; ++row)
        product = static_cast<T>(product * values[row * kCols + col]);
      ASSERT_TRUE(test::Same(dst.GetValue(col), product)) << col;
    }
  });
}

TEST(Tcolprod, MultipliesRowAfterRow) {
  CheckProducts<float>();
  CheckProducts<half>();
  CheckProducts<int16_t>();
  CheckProducts<int32_t>();
}

template <class T>
void CheckPairs(int cols) {
  const auto values = test::Samples<T>(kRows * kCols, 5);
  OnCore([&] {
    VecTile<T, kRows, kCols> src(7, cols);
    VecTile<T, kRows, kCols - 64> dst(7, cols);
    TASSIGN(src, 0);
    TASSIGN(dst, 102400);
    std::memcpy(static_cast<void*>(src.data()), values.data(), values.size() * sizeof(T));
    TEXPANDS(dst, static_cast<T>(-7));
    TPAIRREDUCESUM(dst, src);
    for (int row = 0; row < 7; ++row) {
      for (int col = 0; col < cols; ++col) {
        const T* pair = &values[row * kCols + 2 * (col < cols / 2 ? col : 0)];
        const T right =
            col < cols / 2
                ? static_cast<T>(static_cast<float>(pair[0]) + static_cast<float>(pair[1]))
                : static_cast<T>(-7);
        ASSERT_TRUE(test::Same(dst.GetValue(row * (kCols - 64) + col), right))
            << row << ", " << col;
      }
    }
    TPAIRREDUCESUM(src, src);  // in place
    ASSERT_TRUE(test::Same(src.GetValue(0), dst.GetValue(0)) || cols < 2);
    ASSERT_TRUE(test::Same(src.GetValue(2), dst.GetValue(2)) || cols < 6);
  });
}

TEST(Tpairreducesum, AddsNeighboursAndLeavesTheRest) {
  for (const int cols : {1, 2, 7, 64, 255}) {
    CheckPairs<float>(cols);
    CheckPairs<half>(cols);
  }
}

TEST(Arg, NamesWhatDoesNotFit) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 4, 8> src(4, 8);
                   VecTile<int32_t, 4, 8> dst(3, 1);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 128);
                   TROWARGMAX(dst, src, src);
                 }),
                 "TROWARGMAX: expected dst of 4 valid rows (those of src), got 3");
  ExpectContains(FaultOf([] {
                   VecTile<float, 4, 8> src(4, 8), value(1, 8);
                   VecTile<int32_t, 4, 8> dst(1, 7);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 128);
                   TASSIGN(value, 256);
                   TCOLARGMIN(value, dst, src, src);
                 }),
                 "TCOLARGMIN: expected dst of 8 valid columns (those of src), got 7");
  ExpectContains(FaultOf([] {
                   VecTile<int32_t, 4, 8> src(4, 8), dst(1, 8);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 128);
                   TCOLARGMIN(dst, src, src);
                 }),
                 "TCOLARGMIN: expected elements of type uint16, uint32, half or float on "
                 "Ascend910B1, got int32");
  ExpectContains(
      test::FaultOn<int32_t>([](auto& c, auto& a, auto&) { TPAIRREDUCESUM(c, a); }),
      "TPAIRREDUCESUM: expected elements of type half or float on Ascend910B1, got int32");
}

}  // namespace
