// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

using Clock = std::chrono::steady_clock;

class CrossCore : public ::testing::Test {
 protected:
  OwnStream stream_;
  std::vector<uint32_t> cells_ = std::vector<uint32_t>(1024);
  uint32_t errors_ = 0;
};

TEST_F(CrossCore, CubeAndTwoVectorCoresPingPong10000Times) {
  ASSERT_OK(Launch(stream_, npu_kernel_ping_pong, 1, cells_.data(), &errors_, 10000u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(errors_, 0u);
  EXPECT_EQ(cells_[0], 10000u);
  EXPECT_EQ(cells_[1], 10000u);
  EXPECT_EQ(cells_[2], 10000u);
}

TEST_F(CrossCore, PingPongRunsInMoreBlocksThanTheChipHasCores) {
  ASSERT_OK(Launch(stream_, npu_kernel_ping_pong, 100, cells_.data(), &errors_, 10u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(errors_, 0u);
  for (int cell = 0; cell < 300; ++cell) EXPECT_EQ(cells_[cell], 10u);
}

TEST_F(CrossCore, VectorCoresOfABlockMeetAtAFlag) {
  ASSERT_OK(Launch(stream_, npu_kernel_vector_pair, 4, cells_.data(), &errors_, 100u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(errors_, 0u);
  for (int cell = 0; cell < 8; ++cell) EXPECT_EQ(cells_[cell], 100u);
}

TEST_F(CrossCore, BlocksMeetAtAFlagThatAllHaveSet) {
  ASSERT_OK(Launch(stream_, npu_kernel_meet_at_flag, 40, cells_.data(), &errors_));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(errors_, 0u);
}

TEST_F(CrossCore, SyncAllHolds24MixedBlocksTogether) {
  ASSERT_OK(Launch(stream_, npu_kernel_sync_mix, 24, cells_.data(), &errors_, 50u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(errors_, 0u);
  for (int cell = 0; cell < 72; ++cell) EXPECT_EQ(cells_[cell], 50u);
}

TEST_F(CrossCore, SyncAllHolds24And48VectorBlocksTogether) {
  for (const uint32_t blocks : {24u, 48u}) {
    ASSERT_OK(Launch(stream_, npu_kernel_sync_vector, blocks, cells_.data(), &errors_, 50u));
    ASSERT_OK(npuStreamSynchronize(stream_));
    EXPECT_EQ(errors_, 0u);
    EXPECT_EQ(cells_[blocks - 1], 50u);
  }
}

// Each thread has a stream, whose launches it runs.
TEST_F(CrossCore, RandomWorkHasTheSameBitsInAnyNumberOfThreads) {
  constexpr uint32_t kBlocks = 8, kLaunches = 1000;
  const auto run = [](npuStream_t stream) {
    std::vector<float> numbers(3 * kBlocks + 1);
    float* const total = numbers.data() + 3 * kBlocks;
    EXPECT_OK(Launch(stream, npu_kernel_random_work, kBlocks, numbers.data(), total, 10u));
    EXPECT_OK(npuStreamSynchronize(stream));
    return numbers;
  };
  const std::vector<float> expected = run(stream_);
  EXPECT_GT(expected.back(), 1.0f);
  for (const uint32_t threads : {1u, 2u, 8u}) {
    std::atomic<uint32_t> differing{0};
    std::vector<std::thread> running;
    for (uint32_t i = 0; i < threads; ++i) {
      running.emplace_back([&] {
        OwnStream stream;
        for (uint32_t launch = 0; launch < kLaunches / threads; ++launch) {
          const std::vector<float> got = run(stream);
          if (std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) != 0)
            ++differing;
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(differing, 0u) << threads;
  }
}

TEST_F(CrossCore, SyncAllOfMoreBlocksThanCoresIsAFault) {
  ASSERT_OK(Launch(stream_, npu_kernel_sync_vector, 49, cells_.data(), &errors_, 1u));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
               "SYNCALL: expected at most 48 vector cores (as many as Ascend910B1 has), got 49");
  ExpectGoodLaunch(stream_);
}

TEST_F(CrossCore, ADeadlockIsNamedWithinASecond) {
  ASSERT_OK(Launch(stream_, npu_kernel_cross_wait, 2));
  const auto start = Clock::now();
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_DEADLOCK,
               "cross_wait: expected a core that can go on, got a deadlock");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(1));
  const std::string message = npuGetLastErrorMessage();
  EXPECT_NE(message.find("block 0, cube core waits for cross-core flag 5"), std::string::npos)
      << message;
  EXPECT_NE(message.find("block 0, vector core 1 waits for cross-core flag 6"), std::string::npos)
      << message;
  EXPECT_NE(message.find("and 2 more"), std::string::npos) << message;
  ExpectGoodLaunch(stream_);
}

TEST_F(CrossCore, ADeadlockOfTheBlocksThatFitNamesTheBlockThatCannotStart) {
  ASSERT_OK(Launch(stream_, npu_kernel_cross_wait, 30));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_DEADLOCK, "block 24 waits for a free core");
}

TEST_F(CrossCore, ACoreThatEndsBeforeSyncAllIsADeadlock) {
  ASSERT_OK(Launch(stream_, npu_kernel_block_leaves, 4));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_DEADLOCK,
               "block 2 has ended without SYNCALL");
  EXPECT_NE(std::string(npuGetLastErrorMessage())
                .find("waits at SYNCALL of the vector cores (2 of 4 arrived)"),
            std::string::npos)
      << npuGetLastErrorMessage();
  ASSERT_OK(Launch(stream_, npu_kernel_cube_leaves, 1));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
               "SYNCALL of all cores: expected all 3 cores to arrive, got 1 that have ended");
  ExpectGoodLaunch(stream_);
}

TEST_F(CrossCore, CallsThatTheKernelHasNoCoresForAreFaults) {
  ASSERT_OK(Launch(stream_, npu_kernel_cube_flag_without_cube, 1));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
               "ffts_cross_core_sync: expected a kernel with cube and vector cores (mode 2), got "
               "one without cube cores");
  ASSERT_OK(Launch(stream_, npu_kernel_sync_mix_without_cube, 1));
  EXPECT_ERROR(
      npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
      "SYNCALL of all cores: expected a kernel with cube and vector cores, got one without "
      "cube cores");
  ASSERT_OK(Launch(stream_, npu_kernel_cube_asks_for_vector_pair, 1));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
               "expected a vector core (mode 1), got a cube core");
}

TEST_F(CrossCore, MoreThan15PendingSetsAreAFault) {
  ASSERT_OK(Launch(stream_, npu_kernel_too_many_sets, 1));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT,
               "too_many_sets, block 0, cube core, instruction 16: ffts_cross_core_sync: expected "
               "at most 15 sets of "
               "flag 7 without a wait_flag_dev, got one more");
}

TEST_F(CrossCore, APollingBlockSeesWhatALaterBlockWrites) {
  ASSERT_OK(Launch(stream_, npu_kernel_poll, 8, cells_.data(), 1u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(cells_[0], 1u);
}

}  // namespace
}  // namespace npu_test
