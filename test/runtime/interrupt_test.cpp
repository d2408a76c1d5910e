// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime_test.hpp"

extern "C" const npuKernel npu_kernel_flags_for_ever;

namespace npu_test {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> polls{0};
std::atomic<int> polls_at_interrupt{0};
std::atomic<bool> interrupt{false};
std::atomic<int> fastest_ms{1 << 30};

/// As an interpreter does it: the interrupt is reported once.
int OnPoll() {
  static thread_local Clock::time_point last{};
  const auto now = Clock::now();
  if (last != Clock::time_point{}) {
    const auto ms =
        static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(now - last).count());
    if (ms < fastest_ms.load()) fastest_ms.store(ms);
  }
  last = now;
  ++polls;
  if (!interrupt.exchange(false)) return 0;
  polls_at_interrupt = polls.load();
  return 1;
}

class Interrupt : public ::testing::Test {
 protected:
  Interrupt() {
    polls = 0;
    interrupt = false;
    EXPECT_OK(npuSetInterruptCallback(&OnPoll));
  }
  ~Interrupt() override { EXPECT_OK(npuSetInterruptCallback(nullptr)); }

  /// Asks for an interrupt once the work polls, runs wait meanwhile and checks that it ends soon
  /// after the poll that reports it: who goes on to the end of the work polls a hundred times more.
  template <class Wait>
  void ExpectInterrupted(Wait wait) {
    std::thread asker([] {
      while (polls.load() == 0) std::this_thread::yield();
      interrupt = true;
    });
    EXPECT_ERROR(wait(), NPU_ERROR_INTERRUPTED, "got an interrupt");
    const int polls_since = polls.load() - polls_at_interrupt.load();
    asker.join();
    EXPECT_LT(polls_since, 50);
  }

  OwnStream stream_;
};

constexpr uint32_t kForTenSeconds = 2000;  // instructions of 5 ms

TEST_F(Interrupt, StopsALongKernelThatTheCallerRuns) {
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream_, npu_kernel_work, 1, kForTenSeconds, 5000u));
  ASSERT_OK(Launch(stream_, npu_kernel_append, 1, &list[0], 1u));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  EXPECT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(list[0], 0u);  // dropped
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, StopsALongKernelThatRunsInTheBackground) {
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream_, npu_kernel_work, 1, kForTenSeconds, 5000u));
  ASSERT_OK(Launch(stream_, npu_kernel_append, 1, &list[0], 1u));
  EXPECT_EQ(npuStreamQuery(stream_), NPU_ERROR_NOT_READY);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  EXPECT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(list[0], 0u);
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, StopsBlocksThatAreShorterThanAPollInterval) {
  ASSERT_OK(Launch(stream_, npu_kernel_work, 10000, 1u, 5000u));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, StopsATextOfNothingButFlagsInRandomOrder) {
  float x = 0;
  ASSERT_OK(npuRandomOrderStart(1));
  ASSERT_OK(Launch(stream_, npu_kernel_flags_for_ever, 1, &x));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  EXPECT_OK(npuRandomOrderStop());
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, StopsAQueueOfShortWork) {
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  for (int i = 0; i < 1000; ++i) ASSERT_OK(npuLaunchHostFunction(stream_, nap, nullptr));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  EXPECT_OK(npuStreamSynchronize(stream_));
}

TEST_F(Interrupt, StopsAWaitForAnotherStream) {
  const OwnStream other;
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  ASSERT_OK(Launch(other, npu_kernel_work, 1, kForTenSeconds, 5000u));
  ASSERT_OK(npuEventRecord(event, other));
  ASSERT_OK(npuStreamWaitEvent(stream_, event));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  EXPECT_OK(npuEventQuery(event));
  EXPECT_EQ(npuStreamSynchronize(other), NPU_ERROR_INTERRUPTED);
  ExpectGoodLaunch(stream_);
  ExpectGoodLaunch(other);
  EXPECT_OK(npuEventDestroy(event));
}

TEST_F(Interrupt, StopsABackgroundWaitForAnotherStream) {
  const OwnStream other;
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  ASSERT_OK(Launch(other, npu_kernel_work, 1, kForTenSeconds, 5000u));
  ASSERT_OK(npuEventRecord(event, other));
  ASSERT_OK(npuStreamWaitEvent(stream_, event));
  EXPECT_EQ(npuStreamQuery(stream_), NPU_ERROR_NOT_READY);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  EXPECT_EQ(npuStreamSynchronize(other), NPU_ERROR_INTERRUPTED);
  ExpectGoodLaunch(stream_);
  ExpectGoodLaunch(other);
  EXPECT_OK(npuEventDestroy(event));
}

/// Interrupts a stream while nobody waits for it: its queue is full, and a launch makes room.
void InterruptALaunch(npuStream_t stream, uint32_t* list) {
  constexpr int kMoreThanAQueue = 1100;
  ASSERT_OK(Launch(stream, npu_kernel_work, 1, kForTenSeconds, 5000u));
  interrupt = true;
  int launches = 0;
  while (interrupt && ++launches < kMoreThanAQueue) {
    ASSERT_OK(Launch(stream, npu_kernel_append, 1, list, 1u));
  }
  ASSERT_LT(launches, kMoreThanAQueue);
}

TEST_F(Interrupt, OfAFullQueueDropsNothingThatIsQueuedLater) {
  uint32_t list[4] = {};
  InterruptALaunch(stream_, list);
  uint32_t in = 7;
  uint32_t out = 0;
  ASSERT_OK(Launch(stream_, npu_kernel_times_ten, 1, &out, &in));
  EXPECT_EQ(npuStreamSynchronize(stream_), NPU_ERROR_INTERRUPTED);
  EXPECT_EQ(out, 70u);
  EXPECT_LE(list[0], 1u);  // the launch that made room
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, ThatNobodyHasTakenHidesNoFault) {
  uint32_t list[4] = {};
  InterruptALaunch(stream_, list);
  ASSERT_OK(Launch(stream_, npu_kernel_throw_int, 1));
  ASSERT_OK(Launch(stream_, npu_kernel_append, 1, &list[2], 1u));
  EXPECT_ERROR(npuStreamSynchronize(stream_), NPU_ERROR_KERNEL_FAULT, "throw_int");
  EXPECT_EQ(list[2], 0u);
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, OfAWaitForAnotherStreamLeavesThatStreamUsable) {
  const OwnStream other;
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  ASSERT_OK(Launch(other, npu_kernel_work, 1, kForTenSeconds, 5000u));
  ASSERT_OK(npuEventRecord(event, other));
  ASSERT_OK(npuStreamWaitEvent(stream_, event));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  uint32_t in = 7;
  uint32_t out = 0;
  ASSERT_OK(Launch(other, npu_kernel_times_ten, 1, &out, &in));
  EXPECT_EQ(npuStreamSynchronize(other), NPU_ERROR_INTERRUPTED);
  EXPECT_EQ(out, 70u);
  EXPECT_OK(npuEventDestroy(event));
}

TEST_F(Interrupt, StopsASpin) {
  uint32_t flag = 0;
  ASSERT_OK(Launch(stream_, npu_kernel_poll, 4, &flag, 0u));
  ExpectInterrupted([&] { return npuStreamSynchronize(stream_); });
  ExpectGoodLaunch(stream_);
}

TEST_F(Interrupt, IsAskedForAtMostEvery50Milliseconds) {
  fastest_ms = 1 << 30;
  ASSERT_OK(Launch(stream_, npu_kernel_work, 1, 3000u, 100u));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_GE(polls.load(), 2);
  constexpr int kTickMs = 10;  // of the clock that is asked, at most
  EXPECT_GE(fastest_ms.load(), 50 - kTickMs);
}

}  // namespace
}  // namespace npu_test
