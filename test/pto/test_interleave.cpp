// SPDX-License-Identifier: Apache-2.0
// Interleaving and histograms, which only A5 has, against plain loops.
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

constexpr int kRows = 3, kCols = 38;

/// Four tiles: sources of 3 x 64, results of 3 x 96, of which 3 x 38 are valid.
template <class T, class Check>
void WithTiles(const Check& check, int cols = kCols) {
  const auto x = Samples<T>(kRows * 64, 61), y = Samples<T>(kRows * 64, 62);
  OnCore([&] {
    const AsA5 chip;
    VecTile<T, kRows, 64> src0(kRows, cols), src1(kRows, cols);
    VecTile<T, kRows, 96> dst0(kRows, cols), dst1(kRows, cols);
    TASSIGN(src0, 0);
    TASSIGN(src1, 4096);
    TASSIGN(dst0, 8192);
    TASSIGN(dst1, 16384);
    for (int i = 0; i < kRows * 64; ++i) {
      src0.SetValue(i, x[i]);
      src1.SetValue(i, y[i]);
    }
    for (int i = 0; i < kRows * 96; ++i) {
      dst0.SetValue(i, T(7));
      dst1.SetValue(i, T(7));
    }
    check(dst1, dst0, src1, src0);
  });
}

template <class T>
void ExpectSame(T got, T expected, int row, int col) {
  ASSERT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0) << row << ", " << col;
}

template <class T>
void Interleaves(int cols) {
  const auto check = [=](auto& dst1, auto& dst0, auto& src1, auto& src0) {
    TINTERLEAVE(dst1, dst0, src1, src0);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < cols; ++col) {
        auto& source = col % 2 == 0 ? src0 : src1;
        const int from = row * 64 + col / 2;
        ExpectSame<T>(dst0.GetValue(row * 96 + col), source.GetValue(from), row, col);
        ExpectSame<T>(dst1.GetValue(row * 96 + col), source.GetValue(from + cols / 2), row, col);
      }
      ExpectSame<T>(dst0.GetValue(row * 96 + cols), T(7), row, cols);
    }
  };
  WithTiles<T>(check, cols);
}

TEST(Tinterleave, TakesElementsOfBothSourcesInTurn) {
  Interleaves<float>(kCols);
  Interleaves<half>(37);
  Interleaves<bfloat16_t>(kCols);
  Interleaves<uint8_t>(1);
}

template <class T>
void Deinterleaves() {
  WithTiles<T>([](auto& dst1, auto& dst0, auto& src1, auto& src0) {
    TDEINTERLEAVE(dst1, dst0, src1, src0);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < 2 * kCols; ++col) {
        auto& source = col < kCols ? src0 : src1;
        auto& dst = col % 2 == 0 ? dst0 : dst1;
        ExpectSame<T>(dst.GetValue(row * 96 + col / 2), source.GetValue(row * 64 + col % kCols),
                      row, col);
      }
      ExpectSame<T>(dst1.GetValue(row * 96 + kCols), T(7), row, kCols);
    }
  });
  WithTiles<T>([](auto& dst1, auto& dst0, auto&, auto& src) {
    dst0.SetValidCol(kCols / 2);
    dst1.SetValidCol(kCols / 2);
    TDEINTERLEAVE(dst1, dst0, src);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < kCols; ++col) {
        auto& dst = col % 2 == 0 ? dst0 : dst1;
        ExpectSame<T>(dst.GetValue(row * 96 + col / 2), src.GetValue(row * 64 + col), row, col);
      }
      ExpectSame<T>(dst0.GetValue(row * 96 + kCols / 2), T(7), row, kCols);
    }
  });
}

TEST(Tdeinterleave, PartsEvenAndOddElements) {
  Deinterleaves<float>();
  Deinterleaves<int16_t>();
  Deinterleaves<int8_t>();
}

template <class T, HistByte kByte>
void Counts() {
  constexpr int kSourceRows = 2, kSourceCols = 300, kAt = static_cast<int>(kByte);
  constexpr int kHigher = sizeof(T) - 1 - kAt;
  constexpr bool kShort = sizeof(T) == 2;
  test::Random random(9);
  OnCore([&] {
    const AsA5 chip;
    VecTile<T, kSourceRows, 320> src(kSourceRows, kSourceCols);
    VecTile<uint32_t, kSourceRows, 256> dst(kSourceRows, 256);
    using Column = Tile<TileType::Vec, uint8_t, 32, 1, BLayout::ColMajor>;
    using Rows = Tile<TileType::Vec, uint8_t, 3, 320>;
    std::conditional_t<kShort, Column, Rows> idx;
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    TASSIGN(idx, 16384);
    for (int i = 0; i < kSourceRows * 320; ++i) {
      const uint32_t low = random.Next() & 0xff, bits = random.Next();
      src.SetValue(i, static_cast<T>((bits & 0x01010100u) | low << 8 * kAt % 32));
    }
    for (int i = 0; i < idx.Numel; ++i) idx.SetValue(i, static_cast<uint8_t>(i / 320 % 2));
    THISTOGRAM<kByte>(dst, src, idx);
    for (int row = 0; row < kSourceRows; ++row) {
      for (uint32_t bin = 0; bin < 256; ++bin) {
        uint32_t expected = 0;
        for (int col = 0; col < kSourceCols; ++col) {
          const uint32_t value = src.GetValue(row * 320 + col);
          bool counts = (value >> 8 * kAt & 0xff) <= bin;
          for (int i = 0; i < kHigher; ++i) {
            const int shift = 8 * (static_cast<int>(sizeof(T)) - 1 - i);
            counts &= (value >> shift & 0xff) == idx.GetValue(kShort ? row : i * 320);
          }
          expected += counts;
        }
        ASSERT_EQ(dst.GetValue(row * 256 + bin), expected) << row << ", " << bin;
      }
    }
  });
}

TEST(Thistogram, CountsTheBytesUpToEachValue) {
  Counts<uint16_t, HistByte::BYTE_1>();
  Counts<uint16_t, HistByte::BYTE_0>();
  Counts<uint32_t, HistByte::BYTE_3>();
  Counts<uint32_t, HistByte::BYTE_2>();
  Counts<uint32_t, HistByte::BYTE_1>();
  Counts<uint32_t, HistByte::BYTE_0>();
}

TEST(Interleaving, NamesWhatTheChipRefuses) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 1, 64> a(1, 64), b(1, 64), c(1, 64), d(1, 64);
                   TASSIGN(a, 0);
                   TASSIGN(b, 256);
                   TASSIGN(c, 512);
                   TASSIGN(d, 768);
                   TINTERLEAVE(a, b, c, d);
                 }),
                 "TINTERLEAVE: expected a chip of generation A5, got Ascend910B1");
  ExpectContains(FaultOf([] {
                   const AsA5 chip;
                   VecTile<float, 1, 64> a(1, 64), b(1, 64), c(1, 64);
                   TASSIGN(a, 0);
                   TASSIGN(b, 256);
                   TASSIGN(c, 512);
                   TDEINTERLEAVE(a, b, c);
                 }),
                 "TDEINTERLEAVE: expected 32 valid columns of dst0 (half of those of src), got 64");
  ExpectContains(FaultOf([] {
                   const AsA5 chip;
                   VecTile<uint32_t, 2, 64> src(2, 64), dst(2, 64);
                   VecTile<uint8_t, 1, 64> idx(1, 64);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 512);
                   TASSIGN(idx, 1024);
                   THISTOGRAM<HistByte::BYTE_3>(dst, src, idx);
                 }),
                 "THISTOGRAM: expected dst of at least 2x256, got 2x64");
}

}  // namespace
