// SPDX-License-Identifier: Apache-2.0
// Order of the pipes of one core.
#include <algorithm>

#include "hazards.hpp"

namespace {

using namespace pto;
using test::Check;
using test::ExpectNone;
using test::ExpectOne;
using test::Found;
using test::Order;
using Vec = test::VecTile<float, 1, 256>;
using Row = test::Row<256>;
constexpr int kBytes = 1024;

/// Which waits a kernel c = a + b has. Loops run as often as told.
struct Waits {
  bool load_before_add = true;
  bool add_before_store = true;
  int times_of_first = 1;
};

std::vector<Found> CheckAdd(const Waits& waits) {
  const test::Block<float> a(kBytes), b(kBytes), c(kBytes);
  return Check([&] {
    Row a_row(a.data()), b_row(b.data()), c_row(c.data());
    Vec x(1, 256), y(1, 256), z(1, 256);
    TASSIGN(x, 0);
    TASSIGN(y, kBytes);
    TASSIGN(z, 2 * kBytes);
    TLOAD(x, a_row);
    TLOAD(y, b_row);
    for (int i = 0; i < waits.times_of_first && waits.load_before_add; ++i) {
      Order(PIPE_MTE2, PIPE_V);
    }
    TADD(z, x, y);
    if (waits.add_before_store) Order(PIPE_V, PIPE_MTE3);
    TSTORE(c_row, z);
  });
}

TEST(Order, AKernelWithBothWaitsIsRight) { ExpectNone(CheckAdd({})); }

TEST(Order, AnAddThatDoesNotAwaitItsLoadsIsFoundOnceForEach) {
  const std::vector<Found> all = CheckAdd({.load_before_add = false});
  ASSERT_EQ(all.size(), 2u);
  for (const Found& found : all) {
    EXPECT_EQ(found.kind, "read-after-write");
    EXPECT_EQ(found.first.instruction, "TLOAD");
    EXPECT_EQ(found.first.pipe, "PIPE_MTE2");
    EXPECT_EQ(found.second.instruction, "TADD");
    EXPECT_EQ(found.second.pipe, "PIPE_V");
    EXPECT_EQ(found.space, "UB");
    EXPECT_EQ(found.mend,
              "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);");
  }
  EXPECT_EQ(all[0].begin, 0u);
  EXPECT_EQ(all[0].end, 1024u);
  EXPECT_EQ(all[1].begin, 1024u);
  EXPECT_EQ(all[1].end, 2048u);
}

TEST(Order, AStoreThatDoesNotAwaitTheAddIsFound) {
  const Found found =
      ExpectOne(CheckAdd({.add_before_store = false}), "read-after-write", "TADD", "TSTORE");
  EXPECT_EQ(found.second.pipe, "PIPE_MTE3");
  EXPECT_EQ(found.begin, 2048u);
  EXPECT_EQ(found.end, 3072u);
}

TEST(Order, AWaitInALoopThatDoesNotRunIsNone) {
  EXPECT_EQ(CheckAdd({.times_of_first = 0}).size(), 2u);
  ExpectNone(CheckAdd({.times_of_first = 1}));
}

TEST(Order, AWaitWithoutASetIsAFaultAtOnce) {
  const test::Checking checking;
  const std::string fault = test::FaultOf([] { wait_flag(PIPE_MTE2, PIPE_V, 0); });
  test::ExpectContains(fault, "an earlier set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0)");
}

/// Loads into one buffer again and again; with as many ids, each of its own buffer.
std::vector<Found> CheckLoop(int buffers, bool awaits_free) {
  const test::Block<float> in(kBytes * 16), out(kBytes * 16);
  return Check([&] {
    if (awaits_free) {
      for (int b = 0; b < buffers; ++b) set_flag(PIPE_MTE3, PIPE_MTE2, b);
    }
    for (int i = 0; i < 16; ++i) {
      const int b = i % buffers;
      Row in_row(in.data() + 256 * i), out_row(out.data() + 256 * i);
      Vec x(1, 256);
      TASSIGN(x, static_cast<unsigned>(b * kBytes));
      if (awaits_free) wait_flag(PIPE_MTE3, PIPE_MTE2, b);
      TLOAD(x, in_row);
      Order(PIPE_MTE2, PIPE_V, b);
      TADDS(x, x, 1.0f);
      Order(PIPE_V, PIPE_MTE3, b);
      TSTORE(out_row, x);
      if (awaits_free) set_flag(PIPE_MTE3, PIPE_MTE2, b);
    }
    if (awaits_free) {
      for (int b = 0; b < buffers; ++b) wait_flag(PIPE_MTE3, PIPE_MTE2, b);
    }
  });
}

TEST(Order, BuffersInTurnWithFlagsCarriedOverAreRight) {
  for (const int buffers : {1, 2, 8}) ExpectNone(CheckLoop(buffers, true));
}

TEST(Order, BuffersThatNobodyFreesAreWrittenTooSoon) {
  for (const int buffers : {1, 2, 8}) {
    const std::vector<Found> all = CheckLoop(buffers, false);
    // The load overwrites what the store still reads, and what the sum may write later.
    EXPECT_EQ(test::CountOf(all, "write-after-read"), 1u) << buffers;
    EXPECT_EQ(test::CountOf(all, "write-after-write"), 1u) << buffers;
    for (const Found& found : all) EXPECT_EQ(found.times, 16u - buffers) << found;
  }
}

TEST(Order, ABarrierOfAllPipesOrdersAndOneOfAPipeDoesNot) {
  const test::Block<float> in(kBytes);
  for (const pipe_t pipe : {PIPE_ALL, PIPE_MTE2, PIPE_V}) {
    const std::vector<Found> all = Check([&] {
      Row row(in.data());
      Vec x(1, 256);
      TASSIGN(x, 0);
      TLOAD(x, row);
      pipe_barrier(pipe);
      TADDS(x, x, 1.0f);
    });
    // A load that is not awaited is read, and overwritten.
    EXPECT_EQ(all.size(), pipe == PIPE_ALL ? 0u : 2u) << pipe;
  }
}

TEST(Order, WhatTheScalarUnitAwaitsHoldsBackAllPipes) {
  const test::Block<float> in(kBytes), out(kBytes);
  ExpectNone(Check([&] {
    Row in_row(in.data()), out_row(out.data());
    Vec x(1, 256);
    TASSIGN(x, 0);
    TLOAD(x, in_row);
    Order(PIPE_MTE2, PIPE_S);
    TADDS(x, x, 1.0f);
    Order(PIPE_V, PIPE_S);
    TSTORE(out_row, x);
  }));
}

TEST(Order, ASetCarriesWhatItsPipeHasAwaited) {
  const test::Block<float> in(kBytes);
  ExpectNone(Check([&] {
    Row row(in.data());
    Vec x(1, 256);
    TASSIGN(x, 0);
    TLOAD(x, row);
    Order(PIPE_MTE2, PIPE_MTE3);
    Order(PIPE_MTE3, PIPE_V, 3);
    TADDS(x, x, 1.0f);
  }));
}

TEST(Order, ScalarAccessesAreThoseOfAPipe) {
  const auto check = [](bool awaits) {
    return Check([awaits] {
      Vec x(1, 256), y(1, 256);
      TASSIGN(x, 0);
      TASSIGN(y, kBytes);
      TEXPANDS(x, 1.0f);
      if (awaits) Order(PIPE_V, PIPE_S);
      x.SetValue(3, x.GetValue(2));
      if (awaits) Order(PIPE_S, PIPE_V);
      TADDS(y, x, 1.0f);
    });
  };
  ExpectNone(check(true));
  const std::vector<Found> all = check(false);
  EXPECT_EQ(test::CountOf(all, "read-after-write"), 2u);
  EXPECT_EQ(test::CountOf(all, "write-after-write"), 1u);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].second.instruction, "GetValue");
  EXPECT_EQ(all[0].begin, 8u);
  EXPECT_EQ(all[0].end, 12u);
  EXPECT_EQ(all[2].mend,
            "set_flag(PIPE_S, PIPE_V, EVENT_ID0); wait_flag(PIPE_S, PIPE_V, EVENT_ID0);");
}

TEST(Order, TheMendTakesAnIdThatIsFree) {
  const test::Block<float> in(kBytes);
  const Found found = ExpectOne(Check([&] {
                                  Row row(in.data());
                                  Vec x(1, 256), y(1, 256);
                                  TASSIGN(x, 0);
                                  TASSIGN(y, kBytes);
                                  set_flag(PIPE_MTE2, PIPE_V, 0);
                                  TLOAD(x, row);
                                  TADDS(y, x, 1.0f);
                                  wait_flag(PIPE_MTE2, PIPE_V, 0);
                                }),
                                "read-after-write", "TLOAD", "TADDS");
  EXPECT_EQ(found.mend,
            "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);");
}

TEST(Order, FlagsLeftSetAndSetAgainAreFound) {
  const std::vector<Found> all = Check([] {
    set_flag(PIPE_V, PIPE_MTE3, 2);
    set_flag(PIPE_V, PIPE_MTE3, 2);
    wait_flag(PIPE_V, PIPE_MTE3, 2);
  });
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, "flag-set-again");
  EXPECT_EQ(all[0].second.instruction, "set_flag");
  EXPECT_EQ(all[1].kind, "flag-left-set");
  EXPECT_EQ(all[1].second.instruction, "");
  EXPECT_EQ(all[1].mend, "wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID2);");
}

TEST(Order, OfTheVectorPipeIsLookedAtOnRequest) {
  const auto check = [](uint32_t kinds, bool barrier) {
    return Check(
        [barrier] {
          Vec x(1, 256);
          TASSIGN(x, 0);
          TEXPANDS(x, 1.0f);
          if (barrier) pipe_barrier(PIPE_V);
          TADDS(x, x, 1.0f);
        },
        1, kinds);
  };
  ExpectNone(check(NPU_HAZARD_DEFAULT, false));
  ExpectNone(check(NPU_HAZARD_VECTOR_ORDER, true));
  const Found found =
      ExpectOne(check(NPU_HAZARD_VECTOR_ORDER, false), "vector-order", "TEXPANDS", "TADDS");
  EXPECT_EQ(found.mend, "pipe_barrier(PIPE_V);");
}

/// Checks multiply(to, acc, left, right), with operands that have arrived, on cube cores.
template <class Multiply>
std::vector<Found> CheckOnCube(const Multiply& multiply, uint32_t blocks) {
  const test::Block<float> out(16 * 16 * sizeof(float));
  return Check(
      [&] {
        Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> mat;
        TileLeft<half, 16, 16> left;
        TileRight<half, 16, 16> right;
        TileAcc<float, 16, 16> acc;
        GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>> to(out.data());
        TASSIGN(mat, 0);
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        TASSIGN(acc, 0);
        TEXPANDS(mat, static_cast<half>(1.0f));
        Order(PIPE_MTE2, PIPE_MTE1);
        TMOV(left, mat);
        TMOV(right, mat);
        Order(PIPE_MTE1, PIPE_M);
        multiply(to, acc, left, right);
      },
      blocks, NPU_HAZARD_DEFAULT, test::On::kCube);
}

/// Two products in one accumulator, each stored; the pipes wait by the unit flag, or not at all.
template <AccPhase kProduct, STPhase kStore>
std::vector<Found> CheckProducts() {
  return CheckOnCube(
      [](auto& to, auto& acc, auto& left, auto& right) {
        for (int round = 0; round < 2; ++round) {
          TMATMUL<kProduct>(acc, left, right);
          TSTORE<kStore>(to, acc);
        }
      },
      1);
}

TEST(UnitFlag, OrdersProductsAndStores) {
  ExpectNone(CheckProducts<AccPhase::Final, STPhase::Final>());
  ExpectOne(CheckProducts<AccPhase::Partial, STPhase::Final>(), "read-after-write", "TMATMUL",
            "TSTORE");
  const auto without = CheckProducts<AccPhase::Unspecified, STPhase::Unspecified>();
  ASSERT_GE(without.size(), 2u);
  EXPECT_EQ(without[0].kind, "read-after-write");
  EXPECT_EQ(without[1].kind, "write-after-read");
  for (const Found& found : without) EXPECT_EQ(found.space, "L0C") << found;
}

/// Products in two accumulators in turn: the next one begins before the last has been stored.
template <AccPhase kProduct>
std::vector<Found> CheckTwoAccumulators() {
  return CheckOnCube(
      [](auto& to, auto& acc, auto& left, auto& right) {
        std::remove_reference_t<decltype(acc)> other;
        TASSIGN(other, kBytes);
        TMATMUL<kProduct>(acc, left, right);
        for (int round = 0; round < 2; ++round) {
          TMATMUL<kProduct>(other, left, right);
          TSTORE<STPhase::Final>(to, acc);
          TMATMUL<kProduct>(acc, left, right);
          TSTORE<STPhase::Final>(to, other);
        }
      },
      1);
}

TEST(UnitFlag, OrdersAccumulatorsInFlight) {
  ExpectNone(CheckTwoAccumulators<AccPhase::Final>());
  const auto without = CheckTwoAccumulators<AccPhase::Partial>();
  ASSERT_EQ(without.size(), 3u);
  for (const Found& found : without) {
    EXPECT_EQ(found.kind, "read-after-write") << found;
    EXPECT_EQ(found.space, "L0C") << found;
  }
}

TEST(UnitFlag, IsOfOneBlock) {
  const auto found = CheckOnCube(
      [](auto& to, auto& acc, auto& left, auto& right) {
        if (block_idx == 0) {
          TMATMUL<AccPhase::Final>(acc, left, right);
        } else {
          TMATMUL(acc, left, right);
          TSTORE<STPhase::Final>(to, acc);
        }
      },
      2);
  ExpectOne(found, "read-after-write", "TMATMUL", "TSTORE");
}

/// 8 rows of 8 elements are gathered and stored, with no flag but that behind the load of the
/// indexes and, on A5, that of the vector pipe.
template <Coalesce kMode, class Indexes>
std::vector<Found> CheckGather(bool on_a5) {
  const test::Block<float> table(64 * sizeof(float)), out(64 * sizeof(float));
  const test::Block<int32_t> places(64 * sizeof(int32_t));
  std::fill_n(places.data(), 64, 0);
  return Check([&, on_a5] {
    if (on_a5) npu::current_core->arch = npu::FindArch("Ascend950PR");
    Tile<TileType::Vec, float, 8, 8> found;
    Indexes indexes;
    GlobalTensor<float, Shape<1, 1, 1, 8, 8>, Stride<64, 64, 64, 8, 1>> from(table.data());
    GlobalTensor<float, Shape<1, 1, 1, 8, 8>, Stride<64, 64, 64, 8, 1>> to(out.data());
    GlobalTensor<int32_t, Shape<1, 1, 1, Indexes::Rows, 8>, Stride<64, 64, 64, 8, 1>> stored(
        places.data());
    TASSIGN(found, 0);
    TASSIGN(indexes, 4096);
    TLOAD(indexes, stored);
    Order(PIPE_MTE2, PIPE_V);
    MGATHER<kMode>(found, from, indexes);
    if (on_a5) Order(PIPE_V, PIPE_MTE3);
    TSTORE(to, found);
    npu::current_core->arch = &npu::kArchTable[0];
  });
}

TEST(Tables, AreInOrderWithoutFlagsAndOnA5OfTheVectorPipe) {
  for (const bool on_a5 : {false, true}) {
    ExpectNone(CheckGather<Coalesce::Row, Tile<TileType::Vec, int32_t, 1, 8>>(on_a5));
    ExpectNone(CheckGather<Coalesce::Elem, Tile<TileType::Vec, int32_t, 8, 8>>(on_a5));
  }
}

}  // namespace
