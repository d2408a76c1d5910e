// SPDX-License-Identifier: Apache-2.0
// Flags between cores in all their forms.
#include <chrono>
#include <vector>

#include "elements.hpp"
#include "on_mixed.hpp"
#include "pto/npu/a2a3/custom/TSyncCVID.hpp"
#include "pto/npu/a2a3/custom/TSync_Custom.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::ExpectContains;
using test::MixedEnd;
using test::MixedFault;
using test::OnMixed;

uint32_t Sub() { return static_cast<uint32_t>(get_subblockid()); }

TEST(CrossCore, FlagsWithinABlockReachOneVectorCoreEach) {
  int order[2] = {-1, -1}, step = 0;
  OnMixed(
      [&] {
        const AsA5 chip;
        set_intra_block(PIPE_FIX, 3 + 16);
        wait_intra_block(PIPE_FIX, 4 + 16);
        set_intra_block(PIPE_FIX, 3);
        wait_intra_block(PIPE_FIX, 4);
      },
      [&] {
        const AsA5 chip;
        wait_intra_block(PIPE_V, 3);
        order[Sub()] = step++;
        set_intra_block(PIPE_V, 4);
      });
  EXPECT_EQ(order[1], 0);
  EXPECT_EQ(order[0], 1);
}

TEST(CrossCore, FlagsWithinABlockAreRefused) {
  ExpectContains(
      MixedFault([] { set_intra_block(PIPE_FIX, 0); }),
      "set_intra_block: expected a chip with flags within a block (A5), got Ascend910B1");
  ExpectContains(MixedFault([] { wait_intra_block(PIPE_FIX, 0); }),
                 "wait_intra_block: expected a chip with flags within a block (A5)");
  ExpectContains(MixedFault([] {},
                            [] {
                              const AsA5 chip;
                              set_intra_block(PIPE_V, 16);
                            }),
                 "a flag id from 0 to 15, got pipe 1, id 16");
  ExpectContains(MixedFault([] {
                   const AsA5 chip;
                   wait_intra_block(PIPE_V, 32);
                 }),
                 "a flag id from 0 to 31, got pipe 1, id 32");
  const auto alone = [] {
    const AsA5 chip;
    set_intra_block(PIPE_V, 0);
  };
  ExpectContains(test::FaultOf(alone), "set_intra_block: expected a kernel with cube and vector");
  ExpectContains(MixedFault([] {
                   const AsA5 chip;
                   for (int i = 0; i < 16; ++i) set_intra_block(PIPE_FIX, 17);
                 }),
                 "set_intra_block: expected at most 15 sets of flag 1 without a wait_intra_block");
}

TEST(CrossCore, ADeadlockTellsWhoseSetIsMissing) {
  const auto start = std::chrono::steady_clock::now();
  const std::string sentence = MixedEnd(
      NPU_ERROR_DEADLOCK, [] { wait_flag_dev(5); },
      [] {
        if (Sub() == 1) ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(2, 5));
      });
  ExpectContains(sentence,
                 "block 0, cube core waits for cross-core flag 5, which vector core 0 has not set");
  ExpectContains(MixedEnd(
                     NPU_ERROR_DEADLOCK, [] {},
                     [] {
                       if (block_idx == 0 && Sub() == 0) return;
                       ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(0, 7));
                       wait_flag_dev(7);
                     },
                     2),
                 "waits for cross-core flag 7, which 3 of 4 cores have set");
  const std::string on_a5 = MixedEnd(
      NPU_ERROR_DEADLOCK,
      [] {
        const AsA5 chip;
        wait_intra_block(PIPE_FIX, 18);
      },
      [] {});
  ExpectContains(on_a5, "cube core waits for intra-block flag 18");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(CrossCore, AWordStoredToTheAddressOfTheFlagsIsAFlag) {
  uint64_t address = 0;
  uint32_t bytes = 0;
  ASSERT_EQ(npuGetCrossCoreAddress(&address, &bytes), NPU_SUCCESS);
  ASSERT_NE(address, 0u);
  auto* const flags = reinterpret_cast<uint64_t*>(address);
  std::vector<int> seen(2);
  int produced = 0;
  OnMixed(
      [&] {
        set_ffts_base_addr(address);
        produced = 7;
        st_dev(getFFTSMsg(2, 9), flags, 0);
      },
      [&] {
        wait_flag_dev(9);
        seen[Sub()] = produced;
      });
  EXPECT_EQ(seen, (std::vector<int>{7, 7}));
  EXPECT_EQ(flags[0], 0u);
  EXPECT_EQ(npuGetCrossCoreAddress(nullptr, &bytes), NPU_ERROR_INVALID_VALUE);
}

TEST(CrossCore, MemoryIsReadAndWrittenPastCaches) {
  uint32_t words[4] = {1, 2, 3, 4};
  int32_t counter = 5, before = 0;
  test::OnCore([&] {
    EXPECT_EQ(ld_dev(words, 8), 3u);
    st_dev(uint32_t{9}, words, 12);
    before = atomicAdd(&counter, 3);
    set_st_atomic_cfg(ATOMIC_S32, ATOMIC_SUM);
    st_atomic<int32_t>(2, &counter);
  });
  EXPECT_EQ(words[3], 9u);
  EXPECT_EQ(before, 5);
  EXPECT_EQ(counter, 10);
}

/// An Event of kSrc and kDst that vector cores and the cube core pass to each other.
template <class Event>
void Pass(bool from_cube, bool on_a5) {
  int produced = 0, seen = 0;
  const auto chip = [on_a5] {
    if (on_a5) npu::current_core->arch = npu::FindArch("Ascend950PR");
  };
  const npu::Arch* const before = npu::FindArch("Ascend910B1");
  const auto produce = [&] {
    chip();
    produced += 7;
    Event event;
    event.InitAddr(64);
    event.template Record<3>();
    npu::current_core->arch = before;
  };
  const auto consume = [&] {
    chip();
    Event event;
    event.template Wait<3>();
    seen += produced;
    npu::current_core->arch = before;
  };
  OnMixed(from_cube ? test::Body(produce) : consume, from_cube ? test::Body(consume) : produce);
  EXPECT_EQ(seen, 14) << from_cube << on_a5;  // of two cores 7, or of one the 7 of two
}

TEST(CrossCore, EventsStandBetweenCores) {
  using ToVector = Event<Op::TMOV_A2V, Op::TADD, false>;
  using ToCube = Event<Op::TMOV_V2M, Op::TMOV_M2L, false>;
  using Extracted = Event<Op::TEXTRACT_V2M, Op::TEXTRACT_M2LR, false>;
  static_assert(ToVector::IsCrossCore && ToCube::IsCrossCore && Extracted::IsCrossCore);
  static_assert(!Event<Op::TMOV_A2V, Op::TSTORE_VEC>::IsCrossCore);
  static_assert(!Event<Op::TMOV_A2M, Op::TMOV_M2L>::IsCrossCore);
  for (const bool on_a5 : {false, true}) {
    Pass<ToVector>(true, on_a5);
    if (on_a5) continue;  // there the cube core waits for vector core 0 alone
    Pass<ToCube>(false, on_a5);
    Pass<Extracted>(false, on_a5);
  }
}

TEST(CrossCore, CustomSyncGoesBothWays) {
  constexpr TSync_Custom<SyncOpType::TSTORE_C2GM, SyncOpType::TLOAD> kToVector = {2};
  constexpr TSync_Custom<SyncOpType::TSTORE_V2GM, SyncOpType::TLOAD> kToCube = {4};
  int cube = 0, errors = 0;
  int vector[2] = {};
  OnMixed(
      [&] {
        for (int i = 1; i <= 50; ++i) {
          if (i > 1) kToVector.allocate();
          cube = i;
          kToVector.record();
          kToCube.wait();
          if (vector[0] != i || vector[1] != i) ++errors;
          kToCube.free();
        }
        kToVector.allocate();
      },
      [&] {
        for (int i = 1; i <= 50; ++i) {
          kToVector.wait();
          if (cube != i) ++errors;
          kToVector.free();
          if (i > 1) kToCube.allocate();
          vector[Sub()] = i;
          kToCube.record();
        }
        kToCube.allocate();
      });
  EXPECT_EQ(errors, 0);
}

TEST(CrossCore, RunningBlocksHaveSlotsOfTheirOwn) {
  constexpr uint32_t kBlocks = 60;
  std::vector<uint8_t> memory(kBlocks * kCvCommSlotBytes);
  std::vector<int> users(kCvMaxCores), slots(3 * kBlocks, -1);
  int errors = 0;
  const auto body = [&](uint32_t core) {
    const int slot = TSYNC_CVID(static_cast<int>(block_idx), memory.data());
    slots[3 * block_idx + core] = slot;
    if (core != 0) return;
    if (users[static_cast<size_t>(slot)]++ != 0) ++errors;
    for (uint32_t i = 0; i < block_idx % 5; ++i) dcci(memory.data(), SINGLE_CACHE_LINE);
    --users[static_cast<size_t>(slot)];
  };
  OnMixed([&] { body(0); }, [&] { body(1 + Sub()); }, kBlocks);
  EXPECT_EQ(errors, 0);
  for (uint32_t block = 0; block < kBlocks; ++block) {
    EXPECT_EQ(slots[3 * block], slots[3 * block + 1]);
    EXPECT_EQ(slots[3 * block], slots[3 * block + 2]);
    EXPECT_GE(slots[3 * block], 0);
  }
  ExpectContains(MixedFault([] { TSYNC_CVID(0, nullptr); }), "memory for the slots of blocks");
}

}  // namespace
