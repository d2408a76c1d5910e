// SPDX-License-Identifier: Apache-2.0
// Scatters by index and by pattern, against plain loops.
#include <cstring>
#include <vector>

#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::Samples;
using test::VecTile;

template <class T, class Index>
void ScattersByIndex(bool a5 = test::kA3) {
  const auto elements = Samples<T>(3 * 96, 41);
  test::Random random(8);
  OnCore([&] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, 3, 96> src(3, 90);
    VecTile<T, 4, 64> dst(4, 64);
    VecTile<Index, 3, 48> idx(3, 37);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    TASSIGN(idx, 16384);
    std::vector<T> expected(4 * 64, T(0));
    for (int i = 0; i < 3 * 96; ++i) src.SetValue(i, elements[i]);
    for (int i = 0; i < 4 * 64; ++i) dst.SetValue(i, T(7));
    for (int row = 0; row < 3; ++row) {
      for (int col = 0; col < 48; ++col) {
        const auto index = static_cast<Index>(random.Next() % 100);  // some come twice
        idx.SetValue(row * 48 + col, index);
        if (col < 37) expected[index] = elements[row * 96 + col];
      }
    }
    TSCATTER(dst, src, idx);
    for (int i = 0; i < 4 * 64; ++i) {
      const T got = dst.GetValue(i);
      ASSERT_EQ(std::memcmp(&got, &expected[i], sizeof(T)), 0) << i;
    }
  });
}

TEST(Tscatter, WritesTheElementsThatIndexesNameAndClearsTheRest) {
  ScattersByIndex<float, int32_t>();
  ScattersByIndex<int32_t, uint32_t>();
  ScattersByIndex<half, int16_t>();
  ScattersByIndex<bfloat16_t, uint16_t>();
  ScattersByIndex<uint8_t, int16_t>();
  ScattersByIndex<int64_t, int32_t>(test::kA5);
}

template <class T, MaskPattern kPattern, ScatterAxis kAxis>
void ScattersByPattern(int first, int step) {
  constexpr bool kByRows = kAxis == ScatterAxis::SCATTER_COL;
  const auto elements = Samples<T>(2 * 32, 42);
  OnCore([&] {
    VecTile<T, 2, 32> src(2, 13);
    VecTile<T, 8, 96> dst(kByRows ? 2 * step : 2, kByRows ? 15 : 13 * step);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    std::vector<T> expected(8 * 96, T(step == 1 ? 7 : 0));
    for (int i = 0; i < 2 * 32; ++i) src.SetValue(i, elements[i]);
    for (int i = 0; i < 8 * 96; ++i) dst.SetValue(i, T(7));
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 13; ++col) {
        const int to_row = kByRows ? row * step + first : row;
        const int to_col = kByRows ? col : col * step + first;
        expected[to_row * 96 + to_col] = elements[row * 32 + col];
      }
    }
    TSCATTER<kPattern, kAxis>(dst, src);
    for (int i = 0; i < 8 * 96; ++i) {
      const T got = dst.GetValue(i);
      ASSERT_EQ(std::memcmp(&got, &expected[i], sizeof(T)), 0) << i;
    }
  });
}

TEST(Tscatter, PutsElementsWhereThePatternTakesThem) {
  ScattersByPattern<float, MaskPattern::P0101, ScatterAxis::SCATTER_ROW>(0, 2);
  ScattersByPattern<half, MaskPattern::P1010, ScatterAxis::SCATTER_ROW>(1, 2);
  ScattersByPattern<uint8_t, MaskPattern::P0001, ScatterAxis::SCATTER_ROW>(0, 4);
  ScattersByPattern<int16_t, MaskPattern::P0100, ScatterAxis::SCATTER_ROW>(2, 4);
  ScattersByPattern<int32_t, MaskPattern::P1111, ScatterAxis::SCATTER_ROW>(0, 1);
}

TEST(Tscatter, PutsRowsWhereThePatternTakesThem) {
  ScattersByPattern<float, MaskPattern::P1010, ScatterAxis::SCATTER_COL>(1, 2);
  ScattersByPattern<bfloat16_t, MaskPattern::P0010, ScatterAxis::SCATTER_COL>(1, 4);
  ScattersByPattern<int8_t, MaskPattern::P1000, ScatterAxis::SCATTER_COL>(3, 4);
}

TEST(Tscatter, NamesWhatTheChipRefuses) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 1, 64> src(1, 8), dst(1, 64);
                   VecTile<int32_t, 1, 8> idx(1, 8);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 1024);
                   TASSIGN(idx, 2048);
                   for (int i = 0; i < 8; ++i) idx.SetValue(i, i == 2 ? -3 : i);
                   TSCATTER(dst, src, idx);
                 }),
                 "TSCATTER: expected indexes from 0 to 63 (the elements of dst), got -3 in row 0, "
                 "column 2");
  ExpectContains(FaultOf([] {
                   VecTile<float, 1, 64> src(1, 40), dst(1, 64);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 1024);
                   TSCATTER<MaskPattern::P0101>(dst, src);
                 }),
                 "TSCATTER: expected 80 valid columns of dst, or more, got 64");
  ExpectContains(FaultOf([] {
                   VecTile<int64_t, 1, 8> src(1, 8), dst(1, 8);
                   VecTile<int32_t, 1, 8> idx(1, 8);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 1024);
                   TASSIGN(idx, 2048);
                   TSCATTER(dst, src, idx);
                 }),
                 "on Ascend910B1, got int64");
}

}  // namespace
