// SPDX-License-Identifier: Apache-2.0
// Rows of two tiles joined, against plain loops.
#include <algorithm>
#include <cstring>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::Samples;
using test::VecTile;

constexpr int kRows = 3;

template <class T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// 3 rows of 21 and 12 columns of tiles of different extent.
template <class T>
void Joins() {
  const auto x = Samples<T>(kRows * 64, 51), y = Samples<T>(kRows * 32, 52);
  OnCore([&] {
    VecTile<T, kRows, 64> a(kRows, 21);
    VecTile<T, kRows, 32> b(kRows, 12);
    VecTile<T, kRows, 96> dst(kRows, 33);
    TASSIGN(a, 0);
    TASSIGN(b, 4096);
    TASSIGN(dst, 8192);
    for (int i = 0; i < kRows * 64; ++i) a.SetValue(i, x[i]);
    for (int i = 0; i < kRows * 32; ++i) b.SetValue(i, y[i]);
    for (int i = 0; i < kRows * 96; ++i) dst.SetValue(i, T(7));
    TCONCAT(dst, a, b);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < 96; ++col) {
        const T expected = col < 21 ? x[row * 64 + col] : col < 33 ? y[row * 32 + col - 21] : T(7);
        ASSERT_TRUE(SameBits(dst.GetValue(row * 96 + col), expected)) << row << ", " << col;
      }
    }
  });
}

TEST(Tconcat, PutsTheRowsOfTwoTilesBehindOneAnother) {
  Joins<float>();
  Joins<half>();
  Joins<bfloat16_t>();
  Joins<uint16_t>();
  Joins<int8_t>();
}

/// Widths for each row, in bytes of indexes; dst has 24 valid columns.
template <class T, class Index, bool kTellsWidths>
void JoinsByWidth() {
  constexpr int kWidths0[] = {5, 0, 30}, kWidths1[] = {7, 9, 4};
  const auto x = Samples<T>(kRows * 64, 53), y = Samples<T>(kRows * 32, 54);
  OnCore([&] {
    VecTile<T, kRows, 64> a(kRows, 40);
    VecTile<T, kRows, 32> b(kRows, 12);
    VecTile<T, kRows, 32> dst(kRows, 24);
    VecTile<Index, kRows, 32> widths0(kRows, 1), widths1(kRows, 1), widths(kRows, 1);
    TASSIGN(a, 0);
    TASSIGN(b, 4096);
    TASSIGN(dst, 8192);
    TASSIGN(widths0, 16384);
    TASSIGN(widths1, 20480);
    TASSIGN(widths, 24576);
    for (int i = 0; i < kRows * 64; ++i) a.SetValue(i, x[i]);
    for (int i = 0; i < kRows * 32; ++i) b.SetValue(i, y[i]);
    for (int i = 0; i < kRows * 32; ++i) dst.SetValue(i, T(7));
    for (int row = 0; row < kRows; ++row) {
      widths0.SetValue(row * 32, static_cast<Index>(kWidths0[row] * sizeof(Index)));
      widths1.SetValue(row * 32, static_cast<Index>(kWidths1[row] * sizeof(Index)));
    }
    if constexpr (kTellsWidths) {
      TCONCAT(dst, a, b, widths, widths0, widths1);
    } else {
      TCONCAT(dst, a, b, widths0, widths1);
    }
    for (int row = 0; row < kRows; ++row) {
      const int first = std::min(kWidths0[row], 24);
      const int all = std::min(first + kWidths1[row], 24);
      if (kTellsWidths) {
        EXPECT_EQ(widths.GetValue(row * 32), static_cast<Index>(all * sizeof(Index)));
      }
      for (int col = 0; col < 32; ++col) {
        const T expected = col < first ? x[row * 64 + col]
                           : col < all ? y[row * 32 + col - first]
                                       : T(7);
        ASSERT_TRUE(SameBits(dst.GetValue(row * 32 + col), expected)) << row << ", " << col;
      }
    }
  });
}

TEST(Tconcat, TakesTheWidthsThatIndexTilesGive) {
  JoinsByWidth<float, int32_t, false>();
  JoinsByWidth<half, uint16_t, false>();
  JoinsByWidth<int8_t, int8_t, false>();
}

TEST(Tconcat, TellsTheWidthsOfTheResult) {
  JoinsByWidth<float, uint32_t, true>();
  JoinsByWidth<bfloat16_t, int16_t, true>();
  JoinsByWidth<int32_t, uint8_t, true>();
}

TEST(Tconcat, NamesWhatTheChipRefuses) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 2, 32> a(2, 32), b(2, 8), dst(2, 32);
                   TASSIGN(a, 0);
                   TASSIGN(b, 1024);
                   TASSIGN(dst, 2048);
                   TCONCAT(dst, a, b);
                 }),
                 "TCONCAT: expected widths up to 32 (the columns of dst), got 40 in row 0");
  ExpectContains(FaultOf([] {
                   VecTile<float, 2, 32> a(2, 8), b(1, 8), dst(2, 32);
                   TASSIGN(a, 0);
                   TASSIGN(b, 1024);
                   TASSIGN(dst, 2048);
                   TCONCAT(dst, a, b);
                 }),
                 "TCONCAT: expected 2 valid rows of a source (those of dst), got 1");
  ExpectContains(FaultOf([] {
                   VecTile<float, 1, 8> a(1, 8);
                   VecTile<float, 1, 32> dst(1, 32);
                   VecTile<int32_t, 1, 8> widths(1, 1);
                   TASSIGN(a, 0);
                   TASSIGN(dst, 2048);
                   TASSIGN(widths, 1024);
                   widths.SetValue(0, 9 * 4);
                   TCONCAT(dst, a, a, widths, widths);
                 }),
                 "TCONCAT: expected widths up to 8 (the columns of src0), got 9 in row 0");
  ExpectContains(FaultOf([] {
                   VecTile<int64_t, 1, 8> a(1, 4), dst(1, 8);
                   TASSIGN(a, 0);
                   TASSIGN(dst, 2048);
                   TCONCAT(dst, a, a);
                 }),
                 "on Ascend910B1, got int64");
}

}  // namespace
