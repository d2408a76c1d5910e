// SPDX-License-Identifier: Apache-2.0
// Memory of somebody else, and other processes that kernels wait for.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTimeoutMs = 400;

/// While one lives, kernels may wait for a process that has this to tell.
class Watched {
 public:
  explicit Watched(const char* sentence) : sentence_(sentence) {
    EXPECT_OK(
        npuPeerWatchAdd([](void* self) { return static_cast<Watched*>(self)->sentence_; }, this));
  }
  ~Watched() { EXPECT_OK(npuPeerWatchRemove(this)); }

 private:
  const char* sentence_;
};

npuError_t Poll(npuStream_t stream) {
  static uint32_t flag = 0;
  const npuError_t error = Launch(stream, npu_kernel_poll, 3, &flag, 0u);
  return error != NPU_SUCCESS ? error : npuStreamSynchronize(stream);
}

TEST(Peers, EndAPollWhenOneIsLost) {
  const OwnStream stream;
  constexpr int kLooks = 3;  // at a peer that lives
  static std::atomic<int> looks = 0;
  const auto watch = [](void*) {
    return looks.fetch_add(1) < kLooks ? "" : "expected rank 1 to live, got its end";
  };
  EXPECT_OK(npuPeerWatchAdd(watch, &looks));
  EXPECT_ERROR(Poll(stream), NPU_ERROR_DEADLOCK, "expected rank 1 to live, got its end");
  EXPECT_GT(looks.load(), kLooks);
  EXPECT_OK(npuPeerWatchRemove(&looks));
}

TEST(Peers, AreWaitedForLongerThanOtherCores) {
  const OwnStream stream;
  const Watched peer("");
  const auto start = Clock::now();
  EXPECT_ERROR(Poll(stream), NPU_ERROR_DEADLOCK,
               "got no progress of any core in " + std::to_string(kTimeoutMs) + " ms");
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(kTimeoutMs));
}

TEST(Peers, MakeWorkRunBeforeSomebodyWaitsForIt) {
  const OwnStream stream;
  const Watched peer(nullptr);
  std::atomic<bool> ran = false;
  ASSERT_OK(npuLaunchHostFunction(
      stream, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &ran));
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (!ran && Clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(ran);
  EXPECT_OK(npuStreamSynchronize(stream));
}

TEST(Peers, AWatchHasAnOwner) {
  EXPECT_ERROR(npuPeerWatchAdd(nullptr, stderr), NPU_ERROR_INVALID_VALUE,
               "npuPeerWatchAdd: expected a watch and its owner, got NULL");
  EXPECT_ERROR(npuPeerWatchRemove(stderr), NPU_ERROR_INVALID_VALUE,
               "npuPeerWatchRemove: expected an owner of a watch, got 0x");
}

TEST(AdoptedMemory, IsNotOwned) {
  alignas(64) static char memory[256];
  ASSERT_OK(npuMemoryAdopt(memory + 64, 128));
  EXPECT_ERROR(npuFree(memory + 64), NPU_ERROR_INVALID_VALUE,
               "npuFree: expected a pointer from npuMalloc");
  for (const auto& [at, bytes] : {std::pair{0, 65}, {64, 1}, {191, 1}, {0, 256}}) {
    EXPECT_ERROR(npuMemoryAdopt(memory + at, static_cast<size_t>(bytes)), NPU_ERROR_INVALID_VALUE,
                 "npuMemoryAdopt: expected memory that is not known yet, got 0x");
  }
  EXPECT_OK(npuMemoryAdopt(memory, 64));
  EXPECT_OK(npuMemoryAdopt(memory + 192, 64));
  for (const int at : {0, 64, 192}) EXPECT_OK(npuMemoryDisown(memory + at));
  EXPECT_ERROR(npuMemoryDisown(memory), NPU_ERROR_INVALID_VALUE,
               "npuMemoryDisown: expected a pointer from npuMemoryAdopt, got 0x");
  EXPECT_ERROR(npuMemoryAdopt(memory, 0), NPU_ERROR_INVALID_VALUE,
               "npuMemoryAdopt: expected memory of at least a byte, got none");
  void* own = nullptr;
  ASSERT_OK(npuMalloc(&own, 64));
  EXPECT_EQ(npuMemoryDisown(own), NPU_ERROR_INVALID_VALUE);
  EXPECT_OK(npuFree(own));
}

}  // namespace
}  // namespace npu_test

int main(int argc, char** argv) {
  setenv("NPU_PEER_TIMEOUT_MS", std::to_string(npu_test::kTimeoutMs).c_str(), 1);
  setenv("NPU_SPIN_TIMEOUT_MS", "10", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
