// SPDX-License-Identifier: Apache-2.0
// Signals between ranks, and transfers that engines beside the core make.
#include <vector>

#include "device_block.hpp"
#include "elements.hpp"
#include "pto/comm/async/urma/urma_async_intrin.hpp"

namespace {

using namespace pto;
using comm::NotifyOp;
using comm::WaitCmp;
using test::AsA5;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;

TEST(Signal, IsSetAndAddedTo) {
  std::vector<int32_t> signals(4, 5);
  OnCore(
      [&] {
        comm::Signal set(&signals[1]), sum(&signals[2]);
        comm::TNOTIFY(set, -7, NotifyOp::Set);
        comm::TNOTIFY(sum, 3, NotifyOp::AtomicAdd);
      },
      20);
  EXPECT_EQ(signals, (std::vector<int32_t>{5, -7, 65, 5}));
}

bool Plain(WaitCmp compare, int32_t a, int32_t b) {
  switch (compare) {
    case WaitCmp::EQ:
      return a == b;
    case WaitCmp::NE:
      return a != b;
    case WaitCmp::GT:
      return a > b;
    case WaitCmp::GE:
      return a >= b;
    case WaitCmp::LT:
      return a < b;
    default:
      return a <= b;
  }
}

TEST(Signal, IsTestedByAllComparisons) {
  for (const auto compare :
       {WaitCmp::EQ, WaitCmp::NE, WaitCmp::GT, WaitCmp::GE, WaitCmp::LT, WaitCmp::LE}) {
    for (int32_t value : {INT32_MIN, -1, 0, 1, INT32_MAX}) {
      bool met = false;
      int32_t memory = value;
      OnCore([&] {
        comm::Signal signal(&memory);
        met = comm::TTEST(signal, 0, compare);
        if (met) comm::TWAIT(signal, 0, compare);
      });
      EXPECT_EQ(met, Plain(compare, value, 0)) << value;
    }
  }
}

TEST(Signal, OfAMatrixIsMetWhenAllAre) {
  std::vector<int32_t> memory(128, 1);
  for (const bool strided : {false, true}) {
    for (int odd = 0; odd < 128; ++odd) {
      memory[odd] = 0;
      bool met = true;
      OnCore([&] {
        comm::Signal2D<4, 8> matrix =
            strided ? comm::Signal2D<4, 8>(&memory[3], 16) : comm::Signal2D<4, 8>(&memory[3]);
        met = comm::TTEST(matrix, 1, WaitCmp::EQ);
      });
      const int at = odd - 3, pitch = strided ? 16 : 8;
      const bool inside = at >= 0 && at / pitch < 4 && at % pitch < 8;
      EXPECT_EQ(met, !inside) << odd;
      memory[odd] = 1;
    }
  }
}

TEST(Signal, IsWaitedForWhileOtherCoresRun) {
  std::vector<int32_t> signals(24, 0), order;
  OnCore(
      [&] {
        const int block = static_cast<int>(get_block_idx());
        comm::Signal mine(&signals[block]);
        if (block < 23) comm::TWAIT(mine, 2, WaitCmp::GE);
        order.push_back(block);
        if (block > 0) {
          comm::Signal next(&signals[block - 1]);
          comm::TNOTIFY(next, 2, NotifyOp::AtomicAdd);
        }
      },
      24);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(order[i], 23 - i);
}

TEST(Signal, ThatNobodySetsIsNamed) {
  int32_t memory = 7;
  const auto wait = [&] {
    comm::Signal signal(&memory);
    comm::TWAIT(signal, 42, WaitCmp::GE);
  };
  EXPECT_EQ(test::Run(wait), NPU_ERROR_DEADLOCK);
  ExpectContains(
      npuGetLastErrorMessage(),
      "instruction 1: TWAIT for a signal >= 42 (7 at first): expected the memory that it "
      "polls to change, got no progress of any core in");
}

TEST(Signal, OutsideOfItsAllocationOrOddIsNamed) {
  const test::Block<int32_t> block(64);
  ExpectContains(FaultOf([&] {
                   comm::Signal2D<4, 4> matrix(block.data() + 1);
                   comm::TTEST(matrix, 1, WaitCmp::EQ);
                 }),
                 "TTEST: expected global memory within the 64 bytes of its allocation, got bytes 4 "
                 "to 68");
  ExpectContains(
      FaultOf([&] {
        comm::Signal odd(reinterpret_cast<int32_t*>(reinterpret_cast<char*>(block.data()) + 2));
        comm::TNOTIFY(odd, 1, NotifyOp::Set);
      }),
      "TNOTIFY: expected signals at a multiple of 4 bytes, got one 2 bytes behind");
  alignas(4) static char memory[8];
  ASSERT_EQ(npuMemoryAdopt(memory, 6), NPU_SUCCESS);
  ExpectContains(
      FaultOf([&] {  // its first element is written all the same
        comm::Signal2D<0, 4> none(reinterpret_cast<int32_t*>(memory + 4));
        comm::TNOTIFY(none, 1, NotifyOp::Set);
      }),
      "TNOTIFY: expected global memory within the 6 bytes of its allocation, got bytes 4 "
      "to 8");
  EXPECT_EQ(npuMemoryDisown(memory), NPU_SUCCESS);
}

TEST(Signal, OfAnotherOperationIsNamed) {
  int32_t memory = 0;
  comm::Signal signal(&memory);
  const std::string expected =
      "expected WaitCmp EQ (0), NE (1), GT (2), GE (3), LT (4) or LE (5), ";
  ExpectContains(FaultOf([&] { comm::TWAIT(signal, 1, WaitCmp(9)); }),
                 "TWAIT: " + expected + "got 9");
  ExpectContains(FaultOf([&] { comm::TTEST(signal, 1, WaitCmp(6)); }),
                 "TTEST: " + expected + "got 6");
  ExpectContains(FaultOf([&] { comm::TNOTIFY(signal, 1, NotifyOp(2)); }),
                 "TNOTIFY: expected NotifyOp AtomicAdd (0) or Set (1), got 2");
  EXPECT_EQ(memory, 0);
}

using Line = GlobalTensor<int16_t, Shape<1, 1, 1, 1, -1>, Stride<-1, -1, -1, -1, 1>>;
using Scratch = Tile<TileType::Vec, uint8_t, 1, comm::sdma::UB_ALIGN_SIZE>;

Line LineOf(int16_t* data, int length) {
  return Line(data, {length}, {length, length, length, length});
}

struct Asynchronous {
  std::vector<int16_t> src = std::vector<int16_t>(600), dst = std::vector<int16_t>(600, -1);
  uint8_t workspace = 0;
  Scratch scratch;
  comm::AsyncSession session;

  Asynchronous() {
    for (int i = 0; i < 600; ++i) src[i] = static_cast<int16_t>(i);
  }
  bool Build(const comm::sdma::SdmaBaseConfig& config = {1024, 0, 1}) {
    TASSIGN(scratch, 0);
    return comm::BuildAsyncSession(scratch, &workspace, session, 0, config);
  }
};

TEST(AsyncTransfer, MovesALine) {
  for (const bool puts : {false, true}) {
    for (const bool a5 : {false, true}) {
      Asynchronous it;
      bool valid = false, done = false;
      OnCore([&] {
        std::optional<AsA5> chip;
        if (a5) chip.emplace();
        Line to = LineOf(it.dst.data() + 50, 520), from = LineOf(it.src.data(), 500);
        ASSERT_TRUE(it.Build());
        const comm::AsyncEvent event =
            puts ? comm::TPUT_ASYNC(to, from, it.session) : comm::TGET_ASYNC(to, from, it.session);
        valid = event.valid();
        done = event.Wait(it.session) && event.Test(it.session);
      });
      EXPECT_EQ(valid, !(puts && a5));  // the engine of A5 does not put
      EXPECT_TRUE(done);
      for (int i = 0; i < 600; ++i) EXPECT_EQ(it.dst[i], i >= 50 && i < 550 ? i - 50 : -1);
    }
  }
}

TEST(AsyncTransfer, StartsAtTheOffsetOfTheSession) {
  Asynchronous it;
  OnCore([&] {
    Line to = LineOf(it.dst.data(), 10), from = LineOf(it.src.data(), 10);
    ASSERT_TRUE(it.Build({64, 20, 2}));
    EXPECT_TRUE(comm::TPUT_ASYNC(to, from, it.session).Wait(it.session));
  });
  for (int i = 0; i < 600; ++i) EXPECT_EQ(it.dst[i], i >= 10 && i < 20 ? i : -1);
}

TEST(AsyncTransfer, SessionsNeedQueuesAndAWorkspace) {
  OnCore(
      [&] {
        Asynchronous it;
        EXPECT_EQ(it.Build(), get_block_idx() < 48);
        EXPECT_EQ(it.Build({1024, 0, 2}), get_block_idx() < 24);
        EXPECT_FALSE(it.Build({1024, 0, 0}));
        EXPECT_FALSE(it.Build({1024, 0, 49}));
        EXPECT_FALSE(it.Build({0, 0, 1}));
        EXPECT_FALSE(comm::BuildAsyncSession(it.scratch, nullptr, it.session));
        EXPECT_FALSE(comm::BuildAsyncSession(it.scratch, &it.workspace, it.session, 8));
        EXPECT_TRUE(
            comm::BuildAsyncSession(it.scratch, &it.workspace, it.session, 7, {1024, 0, 1}, 47));
      },
      50);
}

TEST(AsyncTransfer, UrmaIsOfA5) {
  constexpr auto kUrma = comm::DmaEngine::URMA;
  Asynchronous it;
  OnCore([&] {
    const AsA5 chip;
    Line to = LineOf(it.dst.data(), 7), from = LineOf(it.src.data(), 7);
    EXPECT_FALSE(comm::BuildAsyncSession<kUrma>(nullptr, it.session));
    EXPECT_TRUE(comm::BuildAsyncSession<kUrma>(&it.workspace, 3, it.session));
    EXPECT_EQ(it.session.destRankId, 3u);
    EXPECT_TRUE(comm::TPUT_ASYNC<kUrma>(to, from, it.session).valid());
    Line second = LineOf(it.dst.data() + 7, 7);
    EXPECT_TRUE(comm::TGET_ASYNC<kUrma>(second, from, it.session, 1).Wait(it.session));
  });
  for (int i = 0; i < 600; ++i) EXPECT_EQ(it.dst[i], i < 14 ? i % 7 : -1);
  ExpectContains(FaultOf([&] { comm::BuildAsyncSession<kUrma>(&it.workspace, 0, it.session); }),
                 "BuildAsyncSession<URMA>: expected a chip of generation A5, got Ascend910B1");
}

TEST(AsyncTransfer, AWorkspaceOfUrmaTellsWhereMemoryStarts) {
  uint64_t words[] = {2, 100, 200};
  auto* const workspace = reinterpret_cast<uint8_t*>(words);
  OnCore([&] {
    EXPECT_EQ(comm::urma::UrmaPeerMrBaseAddr(workspace, 0), 100u);
    EXPECT_EQ(comm::urma::UrmaPeerMrBaseAddr(workspace, 1), 200u);
  });
  ExpectContains(FaultOf([&] { comm::urma::UrmaPeerMrBaseAddr(workspace, 2); }),
                 "UrmaPeerMrBaseAddr: expected a workspace, and a rank of it, got 2");
  ExpectContains(FaultOf([&] { comm::urma::UrmaPeerMrBaseAddr(nullptr, 0); }),
                 "got a null pointer");
}

TEST(AsyncTransfer, NamesWhatItRefuses) {
  Asynchronous it;
  const auto put = [&](int to_length, int from_length, bool built) {
    return FaultOf([&, to_length, from_length, built] {
      Line to = LineOf(it.dst.data(), to_length), from = LineOf(it.src.data(), from_length);
      it.session = {};
      if (built) it.Build();
      comm::TPUT_ASYNC(to, from, it.session);
    });
  };
  ExpectContains(put(8, 9, true),
                 "TPUT_ASYNC: expected dst of at least the 9 elements of src, got 8");
  ExpectContains(put(8, 8, false),
                 "TPUT_ASYNC: expected a session that BuildAsyncSession has built for the engine, "
                 "got one that it has not");
  ExpectContains(FaultOf([&] {
                   using Two =
                       GlobalTensor<int16_t, Shape<1, 1, 1, 2, 8>, Stride<16, 16, 16, 8, 1>>;
                   Two to(it.dst.data()), from(it.src.data());
                   it.Build();
                   comm::TGET_ASYNC(to, from, it.session);
                 }),
                 "TGET_ASYNC: expected src of one line: dimensions 0 to 3 of 1, with its length as "
                 "stride, got 1x1x1x2x8 with strides 16, 16, 16, 8, 1");
}

}  // namespace
