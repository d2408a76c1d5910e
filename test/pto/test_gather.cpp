// SPDX-License-Identifier: Apache-2.0
// Gathers by index, pattern, comparison and block, against plain loops.
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

template <class T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// dst, indexes and src of different widths, 3 x 37 valid; the rest of dst stays.
template <class T, class Index>
void GathersByIndex(bool a5 = test::kA3) {
  const auto elements = Samples<T>(4 * 96, 31);
  test::Random random(7);
  OnCore([&] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, 4, 96> src(4, 96);
    VecTile<T, 4, 128> dst(3, 37);
    VecTile<Index, 3, 64> idx(3, 37), tmp(3, 37);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    TASSIGN(idx, 16384);
    TASSIGN(tmp, 20480);
    for (int i = 0; i < 4 * 96; ++i) src.SetValue(i, elements[i]);
    for (int i = 0; i < 4 * 128; ++i) dst.SetValue(i, T(7));
    for (int i = 0; i < 3 * 64; ++i) idx.SetValue(i, static_cast<Index>(random.Next() % 384));
    TGATHER(dst, src, idx, tmp);
    for (int row = 0; row < 4; ++row) {
      for (int col = 0; col < 128; ++col) {
        const bool valid = row < 3 && col < 37;
        const T expected = valid ? elements[idx.GetValue(row * 64 + col)] : T(7);
        ASSERT_TRUE(SameBits(dst.GetValue(row * 128 + col), expected)) << row << ", " << col;
      }
    }
  });
}

TEST(Tgather, TakesTheElementsThatIndexesName) {
  GathersByIndex<float, int32_t>();
  GathersByIndex<half, uint32_t>();
  GathersByIndex<bfloat16_t, int32_t>();
  GathersByIndex<uint16_t, uint32_t>();
  GathersByIndex<int8_t, int16_t>(test::kA5);
  GathersByIndex<int64_t, int32_t>(test::kA5);
}

template <class T, MaskPattern kPattern>
void GathersInRows(int first, int step, bool a5 = test::kA3) {
  constexpr int kRows = 3, kCols = 61;
  const auto elements = Samples<T>(kRows * 96, 32);
  OnCore([&] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, kRows, 96> src(kRows, kCols);
    VecTile<T, kRows, 64> dst(kRows, 64);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    for (int i = 0; i < kRows * 96; ++i) src.SetValue(i, elements[i]);
    for (int i = 0; i < kRows * 64; ++i) dst.SetValue(i, T(7));
    TGATHER<decltype(dst), decltype(src), kPattern>(dst, src);
    int next = 0;
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < kCols; ++col) {
        if (col % step != first) continue;
        ASSERT_TRUE(SameBits(dst.GetValue(next), elements[row * 96 + col])) << row << ", " << col;
        ++next;
      }
    }
    for (; next < kRows * 64; ++next) ASSERT_TRUE(SameBits(dst.GetValue(next), T(7))) << next;
  });
}

TEST(Tgather, PacksTheElementsThatAPatternTakes) {
  GathersInRows<float, MaskPattern::P0101>(0, 2);
  GathersInRows<half, MaskPattern::P1010>(1, 2);
  GathersInRows<int16_t, MaskPattern::P0001>(0, 4);
  GathersInRows<uint32_t, MaskPattern::P0010>(1, 4);
  GathersInRows<bfloat16_t, MaskPattern::P0100>(2, 4);
  GathersInRows<int32_t, MaskPattern::P1000>(3, 4);
  GathersInRows<uint16_t, MaskPattern::P1111>(0, 1);
  GathersInRows<uint8_t, MaskPattern::P1010>(1, 2, test::kA5);
  GathersInRows<float8_e4m3_t, MaskPattern::P0101>(0, 2, test::kA5);
  GathersInRows<hifloat8_t, MaskPattern::P1000>(3, 4, test::kA5);
}

TEST(Tgather, BeginsARowForEachOfElementsOf64Bits) {
  OnCore([] {
    const AsA5 chip;
    VecTile<int64_t, 4, 24> src(3, 15), dst(3, 7);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    for (int i = 0; i < 4 * 24; ++i) {
      src.SetValue(i, i);
      dst.SetValue(i, -1);
    }
    TGATHER<decltype(dst), decltype(src), MaskPattern::P1010>(dst, src);
    for (int i = 0; i < 3 * 12; ++i)
      ASSERT_EQ(dst.GetValue(i), i % 12 < 7 ? i / 12 * 24 + i % 12 * 2 + 1 : -1) << i;
  });
  static_assert(GetTimesByMask<MaskPattern::P1010> == 2);
  static_assert(GetTimesByMask<MaskPattern::P0010>() == 4);
}

TEST(Tgather, TakesTheRowsOfAPattern) {
  OnCore([] {
    VecTile<int32_t, 8, 16> src(8, 13);
    VecTile<int32_t, 2, 32> dst(2, 13);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    for (int i = 0; i < 8 * 16; ++i) src.SetValue(i, i);
    for (int i = 0; i < 2 * 32; ++i) dst.SetValue(i, -1);
    TGATHER<decltype(dst), decltype(src), MaskPattern::P0100, GatherAxis::GATHER_COL>(dst, src);
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 32; ++col) {
        const int expected = col < 13 ? (row * 4 + 2) * 16 + col : -1;
        ASSERT_EQ(dst.GetValue(row * 32 + col), expected) << row << ", " << col;
      }
    }
  });
}

/// Indexes and numbers of the elements of 3 x 40 that compare true with a threshold for each row.
template <class T, CmpMode kMode>
void FindsElements(bool a5) {
  constexpr int kRows = 3, kCols = 40;
  test::Random random(11);
  OnCore([&] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    using K = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    VecTile<T, kRows, 64> src(kRows, kCols);
    Tile<TileType::Vec, K, 32, 1, BLayout::ColMajor, -1, -1> k(kRows, 1);
    Tile<TileType::Vec, uint32_t, 32, 1, BLayout::ColMajor, -1, -1> counts(kRows, 1);
    VecTile<int32_t, kRows, 40> dst(kRows, 40);
    VecTile<uint8_t, kRows, 32> tmp(kRows, 8);
    TASSIGN(src, 0);
    TASSIGN(k, 1024);
    TASSIGN(counts, 2048);
    TASSIGN(dst, 4096);
    TASSIGN(tmp, 8192);
    for (int i = 0; i < kRows * 64; ++i)
      src.SetValue(i, T(static_cast<int>(random.Next() % 8) - 4));
    for (int row = 0; row < kRows; ++row) k.SetValue(row, static_cast<K>(row - 2));
    TGATHER<decltype(dst), decltype(src), decltype(k), decltype(counts), decltype(tmp), kMode>(
        dst, src, k, counts, tmp, 1000u);
    for (int row = 0; row < kRows; ++row) {
      int found = 0;
      for (int col = 0; col < kCols; ++col) {
        const float value = static_cast<float>(src.GetValue(row * 64 + col));
        const float bound = static_cast<float>(row - 2);
        if (kMode == CmpMode::GT ? !(value > bound) : value != bound) continue;
        ASSERT_EQ(dst.GetValue(row * 40 + found), 1000 + row * 64 + col) << row << ", " << col;
        ++found;
      }
      ASSERT_EQ(counts.GetValue(row), static_cast<uint32_t>(found * (a5 ? 4 : 1))) << row;
    }
  });
}

TEST(Tgather, FindsTheElementsThatCompareTrue) {
  FindsElements<float, CmpMode::GT>(test::kA3);
  FindsElements<half, CmpMode::GT>(test::kA3);
  FindsElements<half, CmpMode::EQ>(test::kA3);
  FindsElements<int32_t, CmpMode::EQ>(test::kA3);
  FindsElements<int32_t, CmpMode::GT>(test::kA5);
  FindsElements<int8_t, CmpMode::EQ>(test::kA5);
}

TEST(Tgather, FindsNoNan) {
  OnCore([] {
    VecTile<float, 1, 8> src(1, 8);
    VecTile<uint32_t, 1, 8> k(1, 1), counts(1, 1), dst(1, 8);
    VecTile<uint8_t, 1, 32> tmp(1, 1);
    TASSIGN(src, 0);
    TASSIGN(k, 64);
    TASSIGN(counts, 128);
    TASSIGN(dst, 192);
    TASSIGN(tmp, 256);
    const float values[] = {NAN, -0.0f, 1.0f, INFINITY, -NAN, 0.0f, -1.0f, 2.0f};
    for (int i = 0; i < 8; ++i) src.SetValue(i, values[i]);
    k.SetValue(0, 0);
    TGATHER<decltype(dst), decltype(src), decltype(k), decltype(counts), decltype(tmp),
            CmpMode::EQ>(dst, src, k, counts, tmp, 0u);
    EXPECT_EQ(counts.GetValue(0), 2u);
    EXPECT_EQ(dst.GetValue(0), 1u);
    EXPECT_EQ(dst.GetValue(1), 5u);
  });
}

template <class T>
void GathersBlocks() {
  constexpr int kInBlock = 32 / sizeof(T), kCols = 3 * kInBlock - 1;
  const auto elements = Samples<T>(2048, 33);
  OnCore([&] {
    VecTile<T, 1, 64 * kInBlock> src(1, 64 * kInBlock);
    VecTile<T, 2, 4 * kInBlock> dst(2, kCols);
    VecTile<uint32_t, 2, 8> offset(2, 3);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    TASSIGN(offset, 8192);
    std::memcpy(static_cast<void*>(src.data()), elements.data(), 2048);
    for (int i = 0; i < 8 * kInBlock; ++i) dst.SetValue(i, T(7));
    for (uint32_t i = 0; i < 16; ++i) offset.SetValue(i, (i * 13 + 5) % 64 * 32);
    TGATHERB(dst, src, offset);
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 4 * kInBlock; ++col) {
        T expected = T(7);
        if (col < 3 * kInBlock) {  // up to whole blocks
          const uint32_t block = offset.GetValue(row * 8 + col / kInBlock);
          expected = elements[block / sizeof(T) + col % kInBlock];
        }
        ASSERT_TRUE(SameBits(dst.GetValue(row * 4 * kInBlock + col), expected))
            << row << " " << col;
      }
    }
  });
}

TEST(Tgatherb, TakesBlocksOf32Bytes) {
  GathersBlocks<float>();
  GathersBlocks<half>();
  GathersBlocks<uint8_t>();
}

/// The fault of a gather of 1 x 8 with index from a src of 1 x 64.
template <class T, class Index>
std::string FaultOfIndex(Index index) {
  return FaultOf([=] {
    VecTile<T, 1, 64> src(1, 64), dst(1, 8);
    VecTile<Index, 1, 32> idx(1, 8);
    TASSIGN(src, 0);
    TASSIGN(dst, 1024);
    TASSIGN(idx, 2048);
    for (int i = 0; i < 8; ++i) idx.SetValue(i, i == 5 ? index : Index(0));
    TGATHER(dst, src, idx, idx);
  });
}

TEST(Tgather, NamesWhatTheChipRefuses) {
  ExpectContains(FaultOfIndex<float, int32_t>(64),
                 "TGATHER: expected indexes from 0 to 63 (the elements of src0), got 64 in row 0, "
                 "column 5");
  ExpectContains(FaultOfIndex<half, int32_t>(-1), "(the elements of src0), got -1 in row 0");
  ExpectContains(FaultOfIndex<half, int16_t>(0),
                 "TGATHER: expected indexes of type int32 or uint32 on Ascend910B1, got int16");
  ExpectContains(FaultOfIndex<int8_t, int32_t>(0), "on Ascend910B1, got int8");
  ExpectContains(FaultOf([] {
                   VecTile<float, 4, 64> src(4, 64);
                   VecTile<float, 2, 32> dst(2, 32);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 2048);
                   TGATHER<decltype(dst), decltype(src), MaskPattern::P0101>(dst, src);
                 }),
                 "TGATHER: expected a dst of at least 128 elements, got 2x32");
  ExpectContains(FaultOf([] {
                   VecTile<float, 2, 64> src(2, 64), dst(2, 32);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 2048);
                   TGATHER<decltype(dst), decltype(src), MaskPattern::P0101>(dst, src);
                 }),
                 "TGATHER: expected a dst whose rows are valid to the end (elements are packed), "
                 "64 columns, got 32");
  ExpectContains(
      FaultOf([] {
        VecTile<float, 4, 64> src(4, 64), dst(3, 64);
        TASSIGN(src, 0);
        TASSIGN(dst, 2048);
        TGATHER<decltype(dst), decltype(src), MaskPattern::P0101, GatherAxis::GATHER_COL>(dst, src);
      }),
      "TGATHER: expected 6 valid rows of src, got 4");
  ExpectContains(FaultOf([] {
                   VecTile<float, 1, 64> src(1, 64), dst(1, 64);
                   VecTile<uint32_t, 1, 8> offset(1, 8);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 2048);
                   TASSIGN(offset, 4096);
                   for (int i = 0; i < 8; ++i) offset.SetValue(i, i == 3 ? 192 * 1024 : 0);
                   TGATHERB(dst, src, offset);
                 }),
                 "TGATHERB: expected offsets of blocks of 32 bytes within UB, multiples of 32, got "
                 "196608");
}

}  // namespace
