// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

size_t FreeBytes() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_OK(npuMemGetInfo(&free_bytes, &total_bytes));
  EXPECT_LE(free_bytes, total_bytes);
  EXPECT_LE(total_bytes, size_t{64} << 30);
  return free_bytes;
}

TEST(Memory, IsAligned) {
  for (const size_t bytes :
       {size_t{1}, size_t{63}, size_t{65}, 2 * kMiB - 1, 2 * kMiB, 5 * kMiB + 1}) {
    void* pointer = nullptr;
    ASSERT_OK(npuMalloc(&pointer, bytes));
    const size_t alignment = bytes >= 2 * kMiB ? 2 * kMiB : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % alignment, 0u) << bytes;
    std::memset(pointer, 1, bytes);
    EXPECT_OK(npuFree(pointer));
  }
}

TEST(Memory, OfNoBytesIsNull) {
  void* pointer = &pointer;
  ASSERT_OK(npuMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_OK(npuFree(nullptr));
}

TEST(Memory, IsCountedPerDevice) {
  const size_t before = FreeBytes();
  void* pointer = nullptr;
  ASSERT_OK(npuMalloc(&pointer, 4 * kMiB));
  EXPECT_EQ(FreeBytes(), before - 4 * kMiB);
  ASSERT_OK(npuSetDevice(1));
  EXPECT_EQ(FreeBytes(), before);
  EXPECT_OK(npuFree(pointer));  // whatever the current device
  ASSERT_OK(npuSetDevice(0));
  EXPECT_EQ(FreeBytes(), before);
}

TEST(Memory, MoreThanTheDeviceHasNamesBothSizes) {
  const size_t free_bytes = FreeBytes();
  for (const size_t bytes : {free_bytes + 1, SIZE_MAX}) {
    void* pointer = nullptr;
    EXPECT_ERROR(npuMalloc(&pointer, bytes), NPU_ERROR_OUT_OF_MEMORY, std::to_string(free_bytes));
    EXPECT_NE(std::string(npuGetLastErrorMessage()).find(std::to_string(bytes)), std::string::npos);
    EXPECT_EQ(pointer, nullptr);
  }
}

TEST(Memory, AnUnknownPointerIsAnErrorNotACrash) {
  int local = 0;
  EXPECT_ERROR(npuFree(&local), NPU_ERROR_INVALID_VALUE,
               "npuFree: expected a pointer from npuMalloc, got 0x");
  void* pointer = nullptr;
  ASSERT_OK(npuMalloc(&pointer, 128));
  EXPECT_OK(npuFree(pointer));
  EXPECT_EQ(npuFree(pointer), NPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(npuMalloc(nullptr, 1), NPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(npuMemGetInfo(nullptr, nullptr), NPU_ERROR_INVALID_VALUE);
}

TEST(Memory, MayBeTakenByManyThreads) {
  const size_t before = FreeBytes();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 1; i < 200; ++i) {
        void* pointer = nullptr;
        EXPECT_OK(npuMalloc(&pointer, static_cast<size_t>(i) * 1000));
        std::memset(pointer, i, static_cast<size_t>(i) * 1000);
        EXPECT_OK(npuFree(pointer));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(FreeBytes(), before);
}

}  // namespace
}  // namespace npu_test
