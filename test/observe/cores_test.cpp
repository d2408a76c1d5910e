// SPDX-License-Identifier: Apache-2.0
// Order of cores: blocks, meetings, flags between the cores of a block.
#include <cstring>

#include "hazards.hpp"
#include "pto/intrinsics.hpp"

namespace {

using namespace pto;
using test::Check;
using test::CheckMixed;
using test::ExpectNone;
using test::ExpectOne;
using test::Found;
using test::Order;
using Vec = test::VecTile<float, 1, 256>;
using Row = test::Row<256>;
constexpr int kBytes = 1024;

/// Stores a row at to.
template <AtomicType kAtomic = AtomicType::AtomicNone>
void Store(float* to) {
  Row row(to);
  Vec x(1, 256);
  TASSIGN(x, 0);
  TEXPANDS(x, 1.0f);
  Order(PIPE_V, PIPE_MTE3);
  TSTORE<Vec, Row, kAtomic>(row, x);
}

void Load(float* from) {
  Row row(from);
  Vec x(1, 256);
  TASSIGN(x, kBytes);
  TLOAD(x, row);
}

TEST(Blocks, ThatWriteOnePlaceAreFound) {
  const test::Block<float> out(4 * kBytes);
  const Found found =
      ExpectOne(Check([&] { Store(out.data() + 64); }, 2), "write-after-write", "TSTORE", "TSTORE");
  EXPECT_EQ(found.space, "GM");
  EXPECT_EQ(found.begin, 256u);
  EXPECT_EQ(found.end, 256u + 1024);
  EXPECT_EQ(found.first.block, 0u);
  EXPECT_EQ(found.second.block, 1u);
  EXPECT_EQ(found.mend, "SYNCALL<SyncCoreType::AIVOnly>();");
}

TEST(Blocks, ThatWriteSideBySideAreRight) {
  const test::Block<float> out(4 * kBytes);
  ExpectNone(Check([&] { Store(out.data() + 256 * block_idx); }, 4));
}

TEST(Blocks, ThatWriteHalfOfOthersAreFound) {
  const test::Block<float> out(4 * kBytes);
  const Found found = ExpectOne(Check([&] { Store(out.data() + 128 * block_idx); }, 2),
                                "write-after-write", "TSTORE", "TSTORE");
  EXPECT_EQ(found.begin, 512u);
  EXPECT_EQ(found.end, 1024u);
}

TEST(Blocks, MayReadOnePlace) {
  const test::Block<float> in(kBytes);
  ExpectNone(Check([&] { Load(in.data()); }, 200));
  const std::vector<Found> all = Check(
      [&] {
        if (block_idx < 199) return Load(in.data());
        Store(in.data());
      },
      200);
  ExpectOne(all, "write-after-read", "TLOAD", "TSTORE");
}

TEST(Blocks, ThatMeetAreOrdered) {
  const test::Block<float> out(4 * kBytes);
  const auto check = [&](bool meet) {
    return Check(
        [&, meet] {
          Store(out.data() + 256 * block_idx);
          if (meet) SYNCALL();
          Load(out.data() + 256 * (3 - block_idx));
          if (meet) SYNCALL();
          Store(out.data() + 256 * block_idx);
        },
        4);
  };
  ExpectNone(check(true));
  const std::vector<Found> all = check(false);
  EXPECT_GE(test::CountOf(all, "read-after-write"), 1u);
  EXPECT_GE(test::CountOf(all, "write-after-read"), 1u);
}

TEST(Blocks, OfAFlagForAllAreOrdered) {
  const test::Block<float> out(4 * kBytes);
  ExpectNone(Check(
      [&] {
        Store(out.data() + 256 * block_idx);
        ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(0, 5));
        wait_flag_dev(5);
        Load(out.data() + 256 * (3 - block_idx));
      },
      4));
}

TEST(Blocks, AFlagThatIsSetTooEarlyOrdersNothing) {
  const test::Block<float> out(4 * kBytes);
  const std::vector<Found> all = Check(
      [&] {
        ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(0, 5));
        Store(out.data() + 256 * block_idx);
        wait_flag_dev(5);
        Load(out.data() + 256 * (3 - block_idx));
      },
      4);
  EXPECT_GE(test::CountOf(all, "read-after-write"), 1u);
}

TEST(Blocks, AWordThatOneOfThemPollsOrders) {
  const test::Block<float> out(kBytes);
  const test::Block<int32_t> word(sizeof(int32_t));
  const auto check = [&](bool waits) {
    *word.data() = 0;
    return Check(
        [&, waits] {
          if (block_idx == 0) {
            Store(out.data());
            if (waits) Order(PIPE_MTE3, PIPE_S);
            st_dev(1, word.data(), 0);
          } else {
            while (ld_dev(word.data(), 0) == 0) continue;
            Load(out.data());
          }
        },
        2);
  };
  ExpectNone(check(true));
  ExpectOne(check(false), "read-after-write", "TSTORE", "TLOAD");
}

TEST(Blocks, TheLastThatCountsKnowsOfAll) {
  const test::Block<float> out(4 * kBytes);
  const test::Block<int32_t> count(sizeof(int32_t));
  *count.data() = 0;
  ExpectNone(Check(
      [&] {
        Store(out.data() + 256 * block_idx);
        Order(PIPE_MTE3, PIPE_S);
        if (atomicAdd(count.data(), 1) != 3) return;
        for (int block = 0; block < 4; ++block) Load(out.data() + 256 * block);
      },
      4));
}

TEST(Blocks, AtomicStoresGoTogetherAndPlainOnesDoNot) {
  const test::Block<float> out(kBytes);
  std::memset(out.data(), 0, kBytes);
  ExpectNone(Check([&] { Store<AtomicType::AtomicAdd>(out.data()); }, 4));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out.data()[i], 4.0f);
  const std::vector<Found> all = Check(
      [&] {
        if (block_idx == 0) return Store(out.data());
        Store<AtomicType::AtomicAdd>(out.data());
      },
      3);
  const Found found = ExpectOne(all, "write-after-write", "TSTORE", "TSTORE");
  EXPECT_EQ(found.times, 2u);
  const std::vector<Found> read = Check(
      [&] {
        if (block_idx == 3) return Load(out.data());
        Store<AtomicType::AtomicAdd>(out.data());
      },
      4);
  EXPECT_EQ(test::CountOf(read, "read-after-write"), 1u);
}

/// The cube core stores what both vector cores load; which flags there are.
std::vector<Found> CheckHandOver(bool sets, bool frees, uint32_t blocks) {
  using Out = TileAcc<float, 16, 16>;
  const test::Block<float> memory(blocks * kBytes);
  return CheckMixed(
      [&, sets, frees] {
        TileLeft<half, 16, 16> left;
        TileRight<half, 16, 16> right;
        Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> a;
        Tile<TileType::Mat, half, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor> b;
        Out out;
        TASSIGN(a, 0);
        TASSIGN(b, 1024);
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        TASSIGN(out, 0);
        const test::Block<half> zeros(512);
        std::memset(zeros.data(), 0, 512);
        using Half = GlobalTensor<half, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>>;
        Half zero(zeros.data());
        TLOAD(a, zero);
        GlobalTensor<half, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 1, 16>, Layout::DN> down(
            zeros.data());
        TLOAD(b, down);
        Order(PIPE_MTE2, PIPE_MTE1);
        TMOV(left, a);
        TMOV(right, b);
        Order(PIPE_MTE1, PIPE_M);
        for (int round = 0; round < 3; ++round) {
          if (round > 0) Order(PIPE_FIX, PIPE_M);
          TMATMUL(out, left, right);
          Order(PIPE_M, PIPE_FIX);
          if (round > 0 && frees) wait_flag_dev(1);
          GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>> to(
              memory.data() + 256 * block_idx);
          TSTORE(to, out);
          if (sets) ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 0));
        }
      },
      [&, sets, frees] {
        for (int round = 0; round < 3; ++round) {
          if (sets) wait_flag_dev(0);
          Load(memory.data() + 256 * block_idx);
          if (frees && round < 2) ffts_cross_core_sync(PIPE_MTE2, getFFTSMsg(2, 1));
        }
      },
      blocks);
}

TEST(Mixed, FlagsBetweenCubeAndVectorCoresOrder) {
  for (const uint32_t blocks : {1, 3}) ExpectNone(CheckHandOver(true, true, blocks));
}

TEST(Mixed, AMissingFlagIsFoundWithTheOneToAdd) {
  const Found late =
      ExpectOne(CheckHandOver(true, false, 1), "write-after-read", "TLOAD", "TSTORE");
  EXPECT_EQ(late.first.core, "vector");
  EXPECT_EQ(late.second.core, "cube");
  EXPECT_EQ(late.mend, "ffts_cross_core_sync(PIPE_MTE2, getFFTSMsg(2, 0)); wait_flag_dev(0);");
  const std::vector<Found> none = CheckHandOver(false, false, 1);
  ASSERT_GE(none.size(), 1u);
  EXPECT_EQ(none[0].kind, "read-after-write");
  EXPECT_EQ(none[0].mend, "ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 0)); wait_flag_dev(0);");
}

/// Both vector cores of a block store a row of value() at one place.
template <class Value>
std::vector<Found> CheckTwice(const Value& value, uint32_t blocks = 1) {
  const test::Block<float> out(blocks * kBytes);
  return CheckMixed([] {},
                    [&] {
                      Row row(out.data() + 256 * block_idx);
                      Vec x(1, 256);
                      TASSIGN(x, 0);
                      TEXPANDS(x, value());
                      Order(PIPE_V, PIPE_MTE3);
                      TSTORE(row, x);
                    },
                    blocks);
}

TEST(Mixed, VectorCoresMayStoreTheSameBytesByOneLine) {
  for (const uint32_t blocks : {1, 3}) ExpectNone(CheckTwice([] { return 1.0f; }, blocks));
  ExpectOne(CheckTwice([] { return static_cast<float>(get_subblockid()); }), "write-after-write",
            "TSTORE", "TSTORE");
}

/// One finding of a flag that is left set, times times.
Found ExpectLeft(const std::vector<Found>& all, uint64_t times) {
  const Found found = ExpectOne(all, "flag-left-set", "ffts_cross_core_sync", "");
  EXPECT_EQ(found.times, times);
  EXPECT_EQ(found.space, "");
  return found;
}

TEST(Mixed, AFlagOfTheCubeCoreThatAVectorCoreDoesNotWaitForIsFound) {
  for (const uint32_t waiting : {0, 1, 2}) {
    const std::vector<Found> all =
        CheckMixed([] { ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 7)); },
                   [&] {
                     if (get_subblockid() < waiting) wait_flag_dev(7);
                   },
                   3);
    if (waiting == 2) {
      ExpectNone(all);
      continue;
    }
    const Found found = ExpectLeft(all, 3 * (2 - waiting));
    EXPECT_EQ(found.first.core, "cube");
    EXPECT_EQ(found.first.pipe, "PIPE_FIX");
    EXPECT_EQ(found.mend, "wait_flag_dev(7) on the cores that the flag is for, or one set less");
  }
}

TEST(Mixed, AFlagOfVectorCoresThatTheCubeCoreDoesNotWaitForIsFound) {
  for (const uint32_t setting : {1, 2}) {  // with one alone the cube core would wait for the other
    const Found found = ExpectLeft(CheckMixed([] {},
                                              [&] {
                                                if (get_subblockid() < setting) {
                                                  ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(2, 1));
                                                }
                                              }),
                                   1);
    EXPECT_EQ(found.first.core, "vector");
  }
}

TEST(Blocks, AFlagOfAllThatSomeDoNotWaitForIsFound) {
  const std::vector<Found> all = Check(
      [] {
        ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(0, 5));
        if (block_idx != 2) wait_flag_dev(5);
      },
      4);
  EXPECT_EQ(ExpectLeft(all, 1).first.block, 2u);
}

TEST(Blocks, AFlagBetweenCoresCounts) {
  const auto check = [](int sets, int waits) {
    return Check([&] {
      for (int i = 0; i < sets; ++i) ffts_cross_core_sync(PIPE_V, getFFTSMsg(1, 2));
      for (int i = 0; i < waits; ++i) wait_flag_dev(2);
    });
  };
  ExpectNone(check(3, 3));
  ExpectLeft(check(3, 1), 2);
}

}  // namespace
