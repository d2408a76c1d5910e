// SPDX-License-Identifier: Apache-2.0
// Sorting in groups of 32 and merging of sorted records, against the standard library's sort.
#include <algorithm>
#include <cstring>
#include <vector>

#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

template <class T>
struct Pair {
  T score;
  uint32_t index;
};

/// The record at number: 8 bytes of score and index.
template <class T, class TileT>
Pair<T> RecordAt(const TileT& tile, int number) {
  const auto* bytes = reinterpret_cast<const char*>(tile.data()) + number * 8;
  Pair<T> pair;
  std::memcpy(static_cast<void*>(&pair.score), bytes, sizeof(T));
  std::memcpy(&pair.index, bytes + 4, 4);
  if (sizeof(T) == 2) {
    uint16_t rest;
    std::memcpy(&rest, bytes + 2, 2);
    EXPECT_EQ(rest, 0) << number;
  }
  return pair;
}

template <class T, class TileT>
void PutRecord(const TileT& tile, int number, Pair<T> pair) {
  auto* bytes = reinterpret_cast<char*>(tile.data()) + number * 8;
  std::memset(bytes, 0, 8);
  std::memcpy(bytes, &pair.score, sizeof(T));
  std::memcpy(bytes + 4, &pair.index, 4);
}

template <class T>
void ExpectPair(Pair<T> got, Pair<T> expected, int number) {
  ASSERT_EQ(test::BitsOf(got.score), test::BitsOf(expected.score)) << number;
  ASSERT_EQ(got.index, expected.index) << number;
}

/// Scores from -4 to 4 in steps of a half: many are equal.
template <class T>
std::vector<Pair<T>> Pairs(int count, uint32_t seed) {
  test::Random random(seed);
  std::vector<Pair<T>> pairs;
  for (int i = 0; i < count; ++i) {
    const float score = (static_cast<int>(random.Next() % 17) - 8) / 2.0f;
    pairs.push_back({static_cast<T>(score), random.Next()});
  }
  return pairs;
}

template <class T>
bool Before(const Pair<T>& a, const Pair<T>& b) {
  return static_cast<float>(a.score) > static_cast<float>(b.score);
}

template <class T>
void SortsGroups() {
  constexpr int kTimes = 8 / sizeof(T), kRows = 3, kCols = 96;
  auto pairs = Pairs<T>(kRows * kCols, 3);
  OnCore([&] {
    VecTile<T, kRows, kCols> src(kRows, kCols);
    VecTile<uint32_t, kRows, kCols> idx(kRows, kCols);
    VecTile<T, kRows, kCols * kTimes> dst(kRows, kCols * kTimes);
    TASSIGN(src, 0);
    TASSIGN(idx, 8192);
    TASSIGN(dst, 16384);
    for (int i = 0; i < kRows * kCols; ++i) {
      src.SetValue(i, pairs[i].score);
      idx.SetValue(i, pairs[i].index);
    }
    TSORT32(dst, src, idx);
    for (int i = 0; i < kRows * kCols; i += 32)
      std::stable_sort(pairs.begin() + i, pairs.begin() + i + 32, Before<T>);
    for (int i = 0; i < kRows * kCols; ++i) ExpectPair(RecordAt<T>(dst, i), pairs[i], i);
  });
}

TEST(Tsort32, SortsEachGroupDescendingAndKeepsEqualOnesInOrder) {
  SortsGroups<float>();
  SortsGroups<half>();
}

TEST(Tsort32, SortsARaggedEndWithScratchAndSharesOneRowOfIndexes) {
  constexpr int kRows = 2, kCols = 45;
  auto pairs = Pairs<float>(kRows * kCols, 4);
  OnCore([&] {
    VecTile<float, kRows, 64> src(kRows, kCols);
    VecTile<uint32_t, 1, 64> idx(1, 64);
    VecTile<float, kRows, 128> dst(kRows, kCols * 2);
    VecTile<float, 1, 64> tmp(1, 64);
    TASSIGN(src, 0);
    TASSIGN(idx, 4096);
    TASSIGN(dst, 8192);
    TASSIGN(tmp, 16384);
    for (int i = 0; i < 64; ++i) idx.SetValue(i, 900 + i);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < kCols; ++col) {
        src.SetValue(row * 64 + col, pairs[row * kCols + col].score);
        pairs[row * kCols + col].index = 900 + col;
      }
    }
    TSORT32(dst, src, idx, tmp);
    for (int row = 0; row < kRows; ++row) {
      const auto begin = pairs.begin() + row * kCols;
      std::stable_sort(begin, begin + 32, Before<float>);
      std::stable_sort(begin + 32, begin + kCols, Before<float>);
      for (int i = 0; i < kCols; ++i)
        ExpectPair(RecordAt<float>(dst, row * 64 + i), pairs[row * kCols + i], i);
    }
    TEXPANDS(dst, 7.0f);
    TSORT32(dst, src, idx);  // only the first 32 of a row
    EXPECT_EQ(dst.GetValue(64), 7.0f);
  });
}

TEST(Tsort32, PutsNanWhereItsSignTellsAndZerosInOrder) {
  OnCore([] {
    VecTile<float, 1, 32> src(1, 32);
    VecTile<uint32_t, 1, 32> idx(1, 32);
    VecTile<float, 1, 64> dst(1, 64);
    TASSIGN(src, 0);
    TASSIGN(idx, 1024);
    TASSIGN(dst, 2048);
    for (uint32_t i = 0; i < 32; ++i) {
      src.SetValue(i, i % 2 == 0 ? -0.0f : 0.0f);
      idx.SetValue(i, i);
    }
    src.SetValue(3, -NAN);
    src.SetValue(5, INFINITY);
    src.SetValue(20, NAN);
    src.SetValue(30, -INFINITY);
    TSORT32(dst, src, idx);
    EXPECT_EQ(RecordAt<float>(dst, 0).index, 20u);
    EXPECT_EQ(RecordAt<float>(dst, 1).index, 5u);
    EXPECT_EQ(RecordAt<float>(dst, 2).index, 0u);
    EXPECT_EQ(RecordAt<float>(dst, 3).index, 1u);
    EXPECT_EQ(RecordAt<float>(dst, 30).index, 30u);
    EXPECT_EQ(RecordAt<float>(dst, 31).index, 3u);
  });
}

template <class T>
void MergesBlocks() {
  constexpr int kTimes = 8 / sizeof(T), kBlock = 64 / kTimes, kRecords = 8 * kBlock;
  auto pairs = Pairs<T>(kRecords, 5);
  for (int i = 0; i < kRecords; i += kBlock)
    std::stable_sort(pairs.begin() + i, pairs.begin() + i + kBlock, Before<T>);
  OnCore([&] {
    VecTile<T, 1, kRecords * kTimes> src(1, kRecords * kTimes), dst(1, kRecords * kTimes);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    for (int i = 0; i < kRecords; ++i) PutRecord(src, i, pairs[i]);
    TMRGSORT(dst, src, 64u);
    for (int i = 0; i < kRecords; i += 4 * kBlock)
      std::stable_sort(pairs.begin() + i, pairs.begin() + i + 4 * kBlock, Before<T>);
    for (int i = 0; i < kRecords; ++i) ExpectPair(RecordAt<T>(dst, i), pairs[i], i);
  });
}

TEST(Tmrgsort, MergesEachFourBlocks) {
  MergesBlocks<float>();
  MergesBlocks<half>();
}

/// Three sorted lists of 40, 24 and 8 records into the first 32; dst is the first list.
TEST(Tmrgsort, MergesListsIntoTheFirstOfThem) {
  auto pairs = Pairs<float>(72, 6);
  std::stable_sort(pairs.begin(), pairs.begin() + 40, Before<float>);
  std::stable_sort(pairs.begin() + 40, pairs.begin() + 64, Before<float>);
  std::stable_sort(pairs.begin() + 64, pairs.end(), Before<float>);
  OnCore([&] {
    using Dst = VecTile<float, 1, 64>;
    using List = VecTile<float, 1, 80>;
    using Tmp = VecTile<float, 1, 144>;
    List first(1, 80), second(1, 48), third(1, 16);
    Dst dst(1, 64);
    Tmp tmp(1, 144);
    TASSIGN(first, 0);
    TASSIGN(dst, 0);
    TASSIGN(second, 1024);
    TASSIGN(third, 2048);
    TASSIGN(tmp, 4096);
    for (int i = 0; i < 40; ++i) PutRecord(first, i, pairs[i]);
    for (int i = 0; i < 24; ++i) PutRecord(second, i, pairs[40 + i]);
    for (int i = 0; i < 8; ++i) PutRecord(third, i, pairs[64 + i]);
    MrgSortExecutedNumList executed = {};
    TMRGSORT<Dst, Tmp, List, List, List, false>(dst, executed, tmp, first, second, third);
    std::stable_sort(pairs.begin(), pairs.end(), Before<float>);
    for (int i = 0; i < 32; ++i) ExpectPair(RecordAt<float>(dst, i), pairs[i], i);
  });
}

TEST(Tmrgsort, StopsWhenAListHasEndedAndTellsWhatWasTaken) {
  OnCore([] {
    using List = VecTile<float, 1, 16>;
    using Tmp = VecTile<float, 1, 64>;
    List a(1, 16), b(1, 4), c(1, 16), d(1, 16);
    Tmp dst(1, 8), tmp(1, 64);
    List* lists[] = {&a, &b, &c, &d};
    for (uint32_t l = 0; l < 4; ++l) {
      TASSIGN(*lists[l], l * 256);
      for (uint32_t i = 0; i < 8; ++i)  // 100, 90, ..; b: 101, 91; c: 50, 40, ..; d: 0, -10, ..
        PutRecord<float>(*lists[l], i,
                         {(l == 0   ? 100.0f
                           : l == 1 ? 101.0f
                           : l == 2 ? 50.0f
                                    : 0.0f) -
                              10.0f * i,
                          l});
    }
    TASSIGN(dst, 4096);
    TASSIGN(tmp, 8192);
    MrgSortExecutedNumList executed = {9, 9, 9, 9};
    TMRGSORT<Tmp, Tmp, List, List, List, List, true>(dst, executed, tmp, a, b, c, d);
    EXPECT_EQ(executed.mrgSortList0, 1);
    EXPECT_EQ(executed.mrgSortList1, 2);
    EXPECT_EQ(executed.mrgSortList2, 0);
    EXPECT_EQ(executed.mrgSortList3, 0);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(RecordAt<float>(dst, i).score, i == 0 ? 101.0f : i == 1 ? 100.0f : 91.0f);
  });
}

TEST(Sorts, NameWhatTheChipRefuses) {
  const auto merge = [](uint32_t block, int cols) {
    return FaultOf([=] {
      VecTile<float, 1, 512> src(1, cols), dst(1, 512);
      TASSIGN(src, 0);
      TASSIGN(dst, 4096);
      TMRGSORT(dst, src, block);
    });
  };
  ExpectContains(merge(32, 512), "TMRGSORT: expected a blockLen of a multiple of 64, got 32");
  ExpectContains(merge(64, 320),
                 "TMRGSORT: expected a src of 1 to 255 times 256 valid columns (4 blocks of "
                 "blockLen), got 320");
  ExpectContains(FaultOf([] {
                   VecTile<float, 2, 64> src(2, 64), dst(2, 64);
                   VecTile<uint32_t, 2, 64> idx(2, 64);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 4096);
                   TASSIGN(idx, 8192);
                   TSORT32(dst, src, idx);
                 }),
                 "TSORT32: expected dst of at least 2x128, got 2x64");
  ExpectContains(FaultOf([] {
                   using List = VecTile<float, 1, 64>;
                   List a(1, 64), b(1, 64), dst(1, 64), tmp(1, 64);
                   TASSIGN(a, 0);
                   TASSIGN(b, 1024);
                   TASSIGN(dst, 2048);
                   TASSIGN(tmp, 4096);
                   MrgSortExecutedNumList executed;
                   TMRGSORT<List, List, List, List, false>(dst, executed, tmp, a, b);
                 }),
                 "TMRGSORT: expected tmp of at least 1x128, got 1x64");
  ExpectContains(FaultOf([] {
                   VecTile<int32_t, 1, 32> src(1, 32);
                   VecTile<int32_t, 1, 64> dst(1, 64);
                   VecTile<uint32_t, 1, 32> idx(1, 32);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 1024);
                   TASSIGN(idx, 2048);
                   TSORT32(dst, src, idx);
                 }),
                 "TSORT32: expected elements of type half or float on Ascend910B1, got int32");
}

}  // namespace
