// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "elements.hpp"
#include "pto/instr/expand_arithmetic.hpp"
#include "pto/instr/rearrange.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

constexpr int kRows = 5, kCols = 19, kPitch = 32;

/// A full tile at 0, a column, a row of 32 bytes per row, and a row; dst at 32768.
template <class T>
struct Operands {
  using Full = VecTile<T, 8, kPitch>;
  Full full{kRows, kCols}, dst{kRows, kCols}, row{1, kCols};
  Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, -1> column{kRows, 1};
  VecTile<T, 8, 32 / sizeof(T)> blocks{kRows, 32 / sizeof(T)};

  Operands() {
    std::mt19937 random(3);
    const auto number = [&] {
      return static_cast<T>(std::uniform_int_distribution<int>(1, 9)(random));
    };
    TASSIGN(full, 0);
    TASSIGN(row, 8192);
    TASSIGN(column, 16384);
    TASSIGN(blocks, 24576);
    TASSIGN(dst, 32768);
    for (int i = 0; i < kRows * kPitch; ++i) full.SetValue(i, number());
    for (int i = 0; i < kCols; ++i) row.SetValue(i, number());
    for (int r = 0; r < kRows; ++r) {
      column.SetValue(r, number());
      for (size_t i = 0; i < 32 / sizeof(T); ++i)
        blocks.SetValue(r * (32 / sizeof(T)) + i, number());
    }
  }
};

template <class T, class Expected>
void ExpectAll(const VecTile<T, 8, kPitch>& dst, const Expected& expected) {
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      ASSERT_EQ(static_cast<double>(dst.GetValue(r * kPitch + c)),
                static_cast<double>(expected(r, c)))
          << r << " " << c;
    }
  }
}

template <class T>
void CheckRepeats(bool a5 = test::kA3) {
  OnCore([a5] {
    std::optional<test::AsA5> chip;
    if (a5) chip.emplace();
    Operands<T> o;
    TROWEXPAND(o.dst, o.column);
    ExpectAll<T>(o.dst, [&](int r, int) { return o.column.GetValue(r); });
    TROWEXPAND(o.dst, o.full);
    ExpectAll<T>(o.dst, [&](int r, int) { return o.full.GetValue(r * kPitch); });
    TCOLEXPAND(o.dst, o.row);
    ExpectAll<T>(o.dst, [&](int, int c) { return o.row.GetValue(c); });
  });
}

template <class T>
void CheckArithmetic() {
  OnCore([] {
    Operands<T> o;
    const auto full = [&](int r, int c) { return o.full.GetValue(r * kPitch + c); };
    const auto column = [&](int r) { return o.column.GetValue(r); };
    const auto block = [&](int r, int c) {
      constexpr int kBlock = 32 / sizeof(T);
      return o.blocks.GetValue(r * kBlock + c % kBlock);
    };
    TROWEXPANDADD(o.dst, o.full, o.column);
    ExpectAll<T>(o.dst, [&](int r, int c) { return static_cast<T>(full(r, c) + column(r)); });
    TROWEXPANDSUB(o.dst, o.full, o.column);
    ExpectAll<T>(o.dst, [&](int r, int c) { return static_cast<T>(full(r, c) - column(r)); });
    TROWEXPANDSUB(o.dst, o.column, o.full);
    ExpectAll<T>(o.dst, [&](int r, int c) { return static_cast<T>(column(r) - full(r, c)); });
    TROWEXPANDMUL(o.dst, o.full, o.blocks);
    ExpectAll<T>(o.dst, [&](int r, int c) { return static_cast<T>(full(r, c) * block(r, c)); });
    TROWEXPANDMAX(o.dst, o.full, o.column, o.row);  // with a scratch tile
    ExpectAll<T>(o.dst, [&](int r, int c) { return std::max(full(r, c), column(r)); });
    TROWEXPANDMIN(o.dst, o.full, o.column);
    ExpectAll<T>(o.dst, [&](int r, int c) { return std::min(full(r, c), column(r)); });
    TCOLEXPANDADD(o.dst, o.full, o.row);
    ExpectAll<T>(o.dst,
                 [&](int r, int c) { return static_cast<T>(full(r, c) + o.row.GetValue(c)); });
    TCOLEXPANDSUB(o.dst, o.full, o.row);
    ExpectAll<T>(o.dst,
                 [&](int r, int c) { return static_cast<T>(full(r, c) - o.row.GetValue(c)); });
    TCOLEXPANDMUL(o.dst, o.full, o.row);
    ExpectAll<T>(o.dst,
                 [&](int r, int c) { return static_cast<T>(full(r, c) * o.row.GetValue(c)); });
    TCOLEXPANDMAX(o.dst, o.full, o.row);
    ExpectAll<T>(o.dst, [&](int r, int c) { return std::max(full(r, c), o.row.GetValue(c)); });
    TCOLEXPANDMIN(o.dst, o.full, o.row);
    ExpectAll<T>(o.dst, [&](int r, int c) { return std::min(full(r, c), o.row.GetValue(c)); });
  });
}

TEST(Expand, RepeatsAColumnOrARowOfFloat) { CheckRepeats<float>(); }
TEST(Expand, ComputesWithTheRepeatedOperandOnEitherSideInFloat) { CheckArithmetic<float>(); }
TEST(Expand, RepeatsAColumnOrARowOfHalf) { CheckRepeats<half>(); }
TEST(Expand, ComputesWithTheRepeatedOperandOnEitherSideInHalf) { CheckArithmetic<half>(); }
TEST(Expand, RepeatsAColumnOrARowOfInt32) { CheckRepeats<int32_t>(); }

TEST(Expand, RepeatsAColumnOrARowOf64BitsOnA5) {
  CheckRepeats<int64_t>(test::kA5);
  CheckRepeats<uint64_t>(test::kA5);
}
TEST(Expand, ComputesWithTheRepeatedOperandOnEitherSideInInt32) { CheckArithmetic<int32_t>(); }

TEST(Expand, DividesAndTakesExpOfTheDifference) {
  OnCore([] {
    Operands<float> o;
    TROWEXPANDDIV(o.dst, o.full, o.column);
    ExpectAll<float>(o.dst, [&](int r, int c) {
      return o.full.GetValue(r * kPitch + c) / o.column.GetValue(r);
    });
    TCOLEXPANDDIV(o.dst, o.full, o.row);
    ExpectAll<float>(
        o.dst, [&](int r, int c) { return o.full.GetValue(r * kPitch + c) / o.row.GetValue(c); });
    TROWEXPANDEXPDIF(o.dst, o.full, o.column);
    for (int r = 0; r < kRows; ++r) {
      const double exact =
          std::exp(static_cast<double>(o.full.GetValue(r * kPitch)) - o.column.GetValue(r));
      EXPECT_NEAR(o.dst.GetValue(r * kPitch), exact, exact * 2.5e-7);
    }
    TCOLEXPANDEXPDIF(o.dst, o.full, o.row);
    for (int c = 0; c < kCols; ++c) {
      const double exact = std::exp(static_cast<double>(o.full.GetValue(c)) - o.row.GetValue(c));
      EXPECT_NEAR(o.dst.GetValue(c), exact, exact * 2.5e-7);
    }
  });
}

TEST(Expand, RoundsTheDifferenceOfHalvesBeforeItTakesExp) {
  OnCore([] {
    Operands<half> o;
    const auto expect = [&](const auto& subtracted) {
      for (int r = 0; r < kRows; ++r) {
        for (int c = 0; c < kCols; ++c) {
          const auto difference =
              static_cast<half>(static_cast<float>(o.full.GetValue(r * kPitch + c)) -
                                static_cast<float>(subtracted(r, c)));
          const auto exact = static_cast<half>(std::exp(static_cast<double>(difference)));
          ASSERT_LE(test::UlpsBetween(o.dst.GetValue(r * kPitch + c), exact), 1);
        }
      }
    };
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kCols; ++c) {
        half& value = o.full.data()[r * kPitch + c];
        value = static_cast<half>(static_cast<float>(value) / 1000);
      }
    }
    TROWEXPANDEXPDIF(o.dst, o.full, o.column);
    expect([&](int r, int) { return o.column.GetValue(r); });
    TCOLEXPANDEXPDIF(o.dst, o.full, o.row);
    expect([&](int, int c) { return o.row.GetValue(c); });
  });
}

TEST(Expand, BroadcastsARowOfValuesToBlocks) {
  OnCore([] {
    Tile<TileType::Vec, float, 1, 16> values;
    Tile<TileType::Vec, float, 16, 8> dst;
    TASSIGN(values, 0);
    TASSIGN(dst, 64);
    for (int i = 0; i < 16; ++i) values.SetValue(i, static_cast<float>(i));
    TROWEXPAND(dst, values);
    for (int i = 0; i < 128; ++i) ASSERT_EQ(dst.GetValue(i), static_cast<float>(i / 8));
  });
}

TEST(Expand, NamesShapesThatDoNotFit) {
  ExpectContains(FaultOf([] {
                   Operands<float> o;
                   o.row.SetValidCol(kCols - 1);
                   TCOLEXPANDADD(o.dst, o.full, o.row);
                 }),
                 "TCOLEXPANDADD: expected src1 of 19 valid columns (those of dst), got 1x18");
  ExpectContains(FaultOf([] {
                   Operands<float> o;
                   o.column.SetValidRow(kRows - 1);
                   TROWEXPANDADD(o.dst, o.full, o.column);
                 }),
                 "TROWEXPANDADD: expected one operand of valid shape 5x19 (that of dst) and one "
                 "with its rows, got 4x1");
}

template <class T>
void CheckTranspose() {
  OnCore([] {
    VecTile<T, 40, 64> src(37, 50);
    VecTile<T, 64, 64> dst(50, 37);
    TASSIGN(src, 0);
    TASSIGN(dst, 65536);
    for (int i = 0; i < 40 * 64; ++i) src.SetValue(i, static_cast<T>(i % 127));
    TTRANS(dst, src, src);
    for (int r = 0; r < 37; ++r) {
      for (int c = 0; c < 50; ++c) ASSERT_EQ(dst.GetValue(c * 64 + r), src.GetValue(r * 64 + c));
    }
  });
}

TEST(Ttrans, SwapsRowsAndColumns) {
  CheckTranspose<float>();
  CheckTranspose<int16_t>();
  CheckTranspose<int8_t>();
}

TEST(Tci, CountsUpAndDown) {
  OnCore([] {
    VecTile<int16_t, 1, 32> dst(1, 20);
    TASSIGN(dst, 0);
    TCI<decltype(dst), int16_t, 0>(dst, 32760);
    EXPECT_EQ(dst.GetValue(19), static_cast<int16_t>(32760 + 19));
    TCI<decltype(dst), int16_t, 1>(dst, 5);
    EXPECT_EQ(dst.GetValue(19), 5 - 19);
  });
}

}  // namespace
