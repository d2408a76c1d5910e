// SPDX-License-Identifier: Apache-2.0
// SYNCALL in all its forms.
#include <vector>

#include "elements.hpp"
#include "on_mixed.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::MixedEnd;
using test::OnMixed;

using Workspace = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 16>, Stride<16, 16, 16, 16, 1>>;

/// Each of cores counts up rounds times, with a meeting before and after all look at all.
template <class Meet>
void CountTogether(std::vector<uint32_t>& counts, int& errors, uint32_t core, const Meet& meet) {
  for (uint32_t round = 1; round <= 20; ++round) {
    counts[core] = round;
    meet();
    for (const uint32_t count : counts) errors += count != round;
    meet();
  }
}

TEST(SyncAll, CoresOfTheOtherKindGoOn) {
  int cube = 0, errors = 0;
  std::vector<uint32_t> counts(8);
  OnMixed(
      [&] {
        SYNCALL<SyncCoreType::AIVOnly>();
        SYNCALL();
        ++cube;
      },
      [&] {
        SYNCALL<SyncCoreType::AICOnly>();
        const auto core = static_cast<uint32_t>(2 * block_idx + get_subblockid());
        CountTogether(counts, errors, core, [] { SYNCALL(); });
      },
      4);
  EXPECT_EQ(cube, 4);
  EXPECT_EQ(errors, 0);
}

TEST(SyncAll, HardWithAWorkspaceDoesNotTouchIt) {
  int32_t words[16] = {};
  int errors = 0;
  std::vector<uint32_t> counts(6);
  test::OnCore(
      [&] {
        Workspace workspace(words);
        CountTogether(counts, errors, block_idx, [&] { SYNCALL<SyncAllMode::Hard>(workspace, 3); });
      },
      6);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(words[0], 0);
}

TEST(SyncAll, SoftCountsInGlobalMemory) {
  int32_t words[16] = {};
  int errors = 0;
  std::vector<uint32_t> counts(48);
  test::OnCore(
      [&] {
        Workspace workspace(words);
        CountTogether(counts, errors, block_idx, [&] { SYNCALL<SyncAllMode::Soft>(workspace); });
      },
      48);
  EXPECT_EQ(errors, 0);
  EXPECT_EQ(words[0], 48 * 40);
}

TEST(SyncAll, SoftTakesSomeOfTheCores) {
  int32_t words[16] = {};
  int errors = 0;
  std::vector<uint32_t> counts(5);
  const auto body = [&] {
    if (block_idx >= 5) return;
    Workspace workspace(words);
    CountTogether(counts, errors, block_idx,
                  [&] { SYNCALL<SyncAllMode::Soft, SyncCoreType::AICOnly>(workspace, 5); });
  };
  ASSERT_EQ(test::Run(body, 9, 0, test::On::kCube), NPU_SUCCESS) << npuGetLastErrorMessage();
  EXPECT_EQ(errors, 0);
}

TEST(SyncAll, SoftHoldsCubeAndVectorCores) {
  int32_t words[16] = {};
  int errors = 0;
  std::vector<uint32_t> counts(3 * 24);
  const auto body = [&](uint32_t core) {
    Workspace workspace(words);
    CountTogether(counts, errors, 3 * block_idx + core,
                  [&] { SYNCALL<SyncAllMode::Soft, SyncCoreType::Mix>(workspace); });
  };
  OnMixed([&] { body(0); }, [&] { body(1 + static_cast<uint32_t>(get_subblockid())); }, 24);
  EXPECT_EQ(errors, 0);
}

/// Launches body on blocks cores of a new stream.
class OnStream {
 public:
  OnStream(const test::Body& body, uint32_t blocks) {
    EXPECT_EQ(npuStreamCreate(&stream_), NPU_SUCCESS);
    static const npuKernelPass kPass = {
        [](const void* args) { (**static_cast<const test::Body* const*>(args))(); },
        sizeof(test::Body*), npu::kCoreLayout};
    static const npuKernel kKernel = {"on_stream", &kPass, nullptr};
    const test::Body* pointer = &body;
    npuLaunchConfig config = {};
    config.stream = stream_;
    config.kernel = &kKernel;
    config.block_dim = blocks;
    config.args = &pointer;
    config.args_bytes = sizeof(pointer);
    EXPECT_EQ(npuLaunchKernelWithConfig(&config), NPU_SUCCESS);
  }
  ~OnStream() { npuStreamDestroy(stream_); }
  void Wait() { EXPECT_EQ(npuStreamSynchronize(stream_), NPU_SUCCESS) << npuGetLastErrorMessage(); }

 private:
  npuStream_t stream_ = nullptr;
};

// Two launches on two streams, of which the caller waits for one.
TEST(SyncAll, SoftHoldsTheCoresOfTwoLaunchesTogether) {
  int32_t words[16] = {};
  int rounds[2] = {};
  const auto half = [&](int index) {
    return [&rounds, &words, index] {
      Workspace workspace(words);
      for (int i = 0; i < 10; ++i) SYNCALL<SyncAllMode::Soft>(workspace, 8);
      if (block_idx == 0) rounds[index] = 10;
    };
  };
  const test::Body first = half(0), second = half(1);
  OnStream one(first, 4), other(second, 4);
  other.Wait();
  one.Wait();
  EXPECT_EQ(rounds[0], 10);
  EXPECT_EQ(rounds[1], 10);
  EXPECT_EQ(words[0], 80);
}

TEST(SyncAll, CountsOnceForEachCoreThatTakesPart) {
  const auto count = [](const char* name) {
    uint64_t executions = 0, elements = 0;
    npuInstructionCountGet(name, &executions, &elements);
    return executions;
  };
  ASSERT_EQ(npuInstructionCountStart(), NPU_SUCCESS);
  OnMixed([] { SYNCALL(); }, [] { SYNCALL(); });
  EXPECT_EQ(npuInstructionCountStop(), NPU_SUCCESS);
  EXPECT_EQ(count("SYNCALL"), 2u);  // the vector cores
  EXPECT_EQ(count("pipe_barrier"), 0u);
}

TEST(SyncAll, WhatCannotMeetIsNamed) {
  int32_t words[16] = {};
  ExpectContains(test::FaultOf([] {
                   Workspace workspace(nullptr);
                   SYNCALL<SyncAllMode::Soft>(workspace);
                 }),
                 "SYNCALL: expected a workspace in global memory, got NULL");
  ExpectContains(test::FaultOf([&] {
                   Workspace workspace(words);
                   SYNCALL<SyncAllMode::Soft>(workspace, -1);
                 }),
                 "SYNCALL: expected a positive number of cores, or 0 for all, got -1");
  void* block = nullptr;
  ASSERT_EQ(npuMalloc(&block, 256), NPU_SUCCESS);
  ExpectContains(test::FaultOf([&] {
                   Workspace workspace(reinterpret_cast<int32_t*>(static_cast<char*>(block) + 254));
                   SYNCALL<SyncAllMode::Soft>(workspace);
                 }),
                 "SYNCALL: expected global memory within the 256 bytes of its allocation, got "
                 "bytes 254 to 258");
  EXPECT_EQ(npuFree(block), NPU_SUCCESS);
  const std::string alone = MixedEnd(
      NPU_ERROR_DEADLOCK, [] { SYNCALL<SyncCoreType::Mix>(); },
      [] {
        if (get_subblockid() == 0) wait_flag_dev(1);
      });
  ExpectContains(alone, "has ended without SYNCALL");
  ExpectContains(alone, "block 0, cube core waits at SYNCALL of all cores (1 of 3 arrived)");
}

}  // namespace
