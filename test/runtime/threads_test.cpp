// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

template <class Body>
void RunThreads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread) threads.emplace_back(body, thread);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, FourLaunchOnFourStreams) {
  RunThreads(4, [](int thread) {
    const OwnStream stream;
    std::vector<uint32_t> list(1001);
    std::vector<uint32_t> cells(256);
    uint32_t errors = 0;
    for (uint32_t i = 0; i < 100; ++i) {
      EXPECT_OK(Launch(stream, npu_kernel_append, 1, list.data(), i));
      EXPECT_OK(Launch(stream, npu_kernel_ping_pong, 2, cells.data(), &errors, 5u));
      if (i % 10 == static_cast<uint32_t>(thread)) {
        EXPECT_OK(npuStreamSynchronize(stream));
      }
    }
    EXPECT_OK(npuStreamSynchronize(stream));
    EXPECT_EQ(errors, 0u);
    EXPECT_EQ(list[0], 100u);
    for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(list[i + 1], i);
  });
}

TEST(Threads, OneOfTwoThatDestroyAStreamSucceeds) {
  npuStream_t stream = nullptr;
  ASSERT_OK(npuStreamCreate(&stream));
  ASSERT_OK(Launch(stream, npu_kernel_work, 1, 100u, 1000u));  // both wait for it
  std::atomic<int> successes = 0;
  RunThreads(2, [&](int) { successes += npuStreamDestroy(stream) == NPU_SUCCESS ? 1 : 0; });
  EXPECT_EQ(successes, 1);
  const OwnStream first;
  const OwnStream second;
  EXPECT_NE(static_cast<npuStream_t>(first), static_cast<npuStream_t>(second));
}

TEST(Threads, OneOfTwoThatDestroyAnEventSucceeds) {
  for (int round = 0; round < 2000; ++round) {
    npuEvent_t event = nullptr;
    ASSERT_OK(npuEventCreate(&event));
    std::atomic<int> successes = 0;
    std::atomic<int> waiting = 2;
    RunThreads(2, [&](int) {
      --waiting;
      while (waiting != 0) {
      }
      successes += npuEventDestroy(event) == NPU_SUCCESS ? 1 : 0;
    });
    ASSERT_EQ(successes, 1);
  }
}

TEST(Threads, FourLaunchOnOneStream) {
  const OwnStream stream;
  std::vector<uint32_t> list(4001);
  RunThreads(4, [&](int thread) {
    for (uint32_t i = 0; i < 1000; ++i) {
      EXPECT_OK(Launch(stream, npu_kernel_append, 1, list.data(), static_cast<uint32_t>(thread)));
      if (i % 100 == 0) {
        EXPECT_OK(npuStreamSynchronize(stream));
      }
    }
  });
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[0], 4000u);
  std::vector<uint32_t> seen(4);
  for (uint32_t i = 1; i <= 4000; ++i) ++seen[list[i]];
  for (const uint32_t count : seen) EXPECT_EQ(count, 1000u);
}

TEST(Threads, AFaultIsReturnedToOneOfThoseThatWait) {
  const OwnStream stream;
  for (int round = 0; round < 50; ++round) {
    ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
    std::atomic<int> faults{0};
    RunThreads(4, [&](int) {
      const npuError_t error = npuStreamSynchronize(stream);
      if (error == NPU_ERROR_KERNEL_FAULT) ++faults;
    });
    EXPECT_EQ(faults.load(), 1);
  }
}

TEST(Threads, RingOfEventsBetweenStreamsEnds) {
  constexpr int kStreams = 4;
  std::vector<std::unique_ptr<OwnStream>> streams;
  std::vector<npuEvent_t> events(kStreams);
  std::vector<uint32_t> list(2001);
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<OwnStream>());
    ASSERT_OK(npuEventCreate(&events[i]));
  }
  for (uint32_t i = 0; i < 400; ++i) {
    const uint32_t at = i % kStreams;
    ASSERT_OK(npuStreamWaitEvent(*streams[at], events[(at + kStreams - 1) % kStreams]));
    ASSERT_OK(Launch(*streams[at], npu_kernel_append, 1, list.data(), i));
    ASSERT_OK(npuEventRecord(events[at], *streams[at]));
  }
  RunThreads(kStreams, [&](int thread) { EXPECT_OK(npuStreamSynchronize(*streams[thread])); });
  EXPECT_EQ(list[0], 400u);
  for (uint32_t i = 0; i < 400; ++i) EXPECT_EQ(list[i + 1], i);
  for (npuEvent_t event : events) EXPECT_OK(npuEventDestroy(event));
}

TEST(Threads, QueriesAndWaitsShareAStream) {
  const OwnStream stream;
  std::vector<uint32_t> list(4001);
  for (int round = 0; round < 20; ++round) {
    for (uint32_t i = 0; i < 100; ++i)
      ASSERT_OK(Launch(stream, npu_kernel_append, 1, list.data(), i));
    RunThreads(3, [&](int thread) {
      if (thread == 0) {
        EXPECT_OK(npuStreamSynchronize(stream));
      } else {
        while (npuStreamQuery(stream) == NPU_ERROR_NOT_READY) std::this_thread::yield();
      }
    });
  }
  EXPECT_EQ(list[0], 2000u);
}

TEST(Threads, StreamsAndEventsAreMadeAndDestroyedByMany) {
  RunThreads(4, [](int) {
    for (int i = 0; i < 50; ++i) {
      const OwnStream stream;
      npuEvent_t event = nullptr;
      EXPECT_OK(npuEventCreate(&event));
      EXPECT_OK(npuEventRecord(event, stream));
      if (i % 5 == 0) {
        EXPECT_NE(npuEventQuery(event), NPU_ERROR_INVALID_VALUE);
      }
      EXPECT_OK(npuEventDestroy(event));
      ExpectGoodLaunch(stream);
    }
  });
}

TEST(Threads, CountInstructionsTogether) {
  ASSERT_OK(npuInstructionCountStart());
  RunThreads(4, [](int) {
    const OwnStream stream;
    EXPECT_OK(Launch(stream, npu_kernel_work, 10, 25u, 0u));
    EXPECT_OK(npuStreamSynchronize(stream));
  });
  ASSERT_OK(npuInstructionCountStop());
  uint64_t executions = 0;
  uint64_t elements = 0;
  ASSERT_OK(npuInstructionCountGet("TEST_WORK", &executions, &elements));
  EXPECT_EQ(executions, 1000u);
  EXPECT_EQ(elements, 1000u);
}

}  // namespace
}  // namespace npu_test
