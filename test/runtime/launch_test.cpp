// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

uint64_t LaunchCount(const char* name) {
  uint64_t launches = 0;
  EXPECT_OK(npuGetLaunchCount(name, &launches));
  return launches;
}

TEST(Launch, RunsEveryBlockOnce) {
  const OwnStream stream;
  std::vector<uint32_t> in(65535);
  std::vector<uint32_t> out(65535);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = i;
  ASSERT_OK(Launch(stream, npu_kernel_times_ten, 65535, out.data(), in.data()));
  ASSERT_OK(npuStreamSynchronize(stream));
  for (uint32_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 10 * i);
}

TEST(Launch, RunsWhenSomebodyWaitsAndNotBefore) {
  const OwnStream stream;
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 5u));
  EXPECT_EQ(list[0], 0u);
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[1], 5u);
}

TEST(Launch, CopiesItsArguments) {
  const OwnStream stream;
  uint32_t list[4] = {};
  {
    Args<uint32_t*, uint32_t> args(&list[0], 5u);
    ASSERT_OK(npuLaunchKernel(&npu_kernel_append, 1, args.bytes, args.count, stream));
    std::memset(args.bytes, 0xff, sizeof(args.bytes));
  }
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[1], 5u);
}

TEST(Launch, PassesMoreThan256BytesOfArguments) {
  const OwnStream stream;
  struct {
    uint32_t* out;
    uint8_t bytes[300];
  } args;
  uint32_t sum = 0;
  args.out = &sum;
  std::memset(args.bytes, 3, sizeof(args.bytes));
  ASSERT_OK(npuLaunchKernel(&npu_kernel_sum_large, 1, &args, 308, stream));
  std::memset(&args, 0, sizeof(args));
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(sum, 900u);
}

TEST(Launch, AcceptsThePaddingOfACStructAndNoMore) {
  const OwnStream stream;
  uint32_t list[8] = {};
  const Args<uint32_t*, uint32_t> args(&list[0], 5u);  // 12 bytes, a C struct has 16
  EXPECT_OK(npuLaunchKernel(&npu_kernel_append, 1, args.bytes, 12, stream));
  EXPECT_OK(npuLaunchKernel(&npu_kernel_append, 1, args.bytes, 16, stream));
  EXPECT_ERROR(npuLaunchKernel(&npu_kernel_append, 1, args.bytes, 11, stream),
               NPU_ERROR_INVALID_VALUE,
               "expected args_bytes of 12 to 16 for kernel append, got 11");
  EXPECT_ERROR(npuLaunchKernel(&npu_kernel_append, 1, args.bytes, 17, stream),
               NPU_ERROR_INVALID_VALUE, "got 17");
  EXPECT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[0], 2u);
}

TEST(Launch, NamesWhatIsWrongWithItsConfiguration) {
  npuStream_t stream = DefaultStream();
  EXPECT_ERROR(npuLaunchKernel(&npu_kernel_empty, 0, nullptr, 0, stream), NPU_ERROR_INVALID_VALUE,
               "npuLaunchKernel: expected a block_dim of 1 to 65535, got 0");
  EXPECT_ERROR(npuLaunchKernel(&npu_kernel_empty, 65536, nullptr, 0, stream),
               NPU_ERROR_INVALID_VALUE, "expected a block_dim of 1 to 65535, got 65536");
  EXPECT_ERROR(npuLaunchKernel(nullptr, 1, nullptr, 0, stream), NPU_ERROR_INVALID_VALUE,
               "expected a kernel, got NULL");
  EXPECT_ERROR(npuLaunchKernel(&npu_kernel_empty, 1, nullptr, 0, nullptr), NPU_ERROR_INVALID_VALUE,
               "expected a stream, got NULL");
  EXPECT_ERROR(npuLaunchKernel(&npu_kernel_append, 1, nullptr, 12, stream), NPU_ERROR_INVALID_VALUE,
               "12 bytes of args");
  const npuKernel no_pass = {"no_pass", nullptr, nullptr};
  EXPECT_ERROR(npuLaunchKernel(&no_pass, 1, nullptr, 0, stream), NPU_ERROR_INVALID_VALUE,
               "no_pass");
  const npuKernelPass no_entry = {nullptr, 0, 0};
  for (const npuKernel& kernel :
       {npuKernel{"no_entry", &no_entry, nullptr}, npuKernel{"no_entry", nullptr, &no_entry}}) {
    EXPECT_ERROR(npuLaunchKernel(&kernel, 1, nullptr, 0, stream), NPU_ERROR_INVALID_VALUE,
                 "expected passes with an entry, got no_entry with one without");
  }
  npuLaunchConfig config = {&npu_kernel_empty, 1,       4,       nullptr, 0, stream,
                            nullptr,           nullptr, nullptr, 0};
  EXPECT_ERROR(npuLaunchKernelWithConfig(&config), NPU_ERROR_INVALID_VALUE, "launch flags");
  EXPECT_ERROR(npuLaunchKernelWithConfig(nullptr), NPU_ERROR_INVALID_VALUE, "a configuration");
  EXPECT_OK(npuStreamSynchronize(stream));
}

TEST(Launch, CountsRunsToTheEndByKernelName) {
  const OwnStream stream;
  const uint64_t empties = LaunchCount("empty");
  const uint64_t faults = LaunchCount("fault_in_block");
  for (int i = 0; i < 3; ++i) ASSERT_OK(Launch(stream, npu_kernel_empty, 2));
  EXPECT_EQ(LaunchCount("empty"), empties);
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(LaunchCount("empty"), empties + 3);
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
  EXPECT_EQ(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT);
  EXPECT_EQ(LaunchCount("fault_in_block"), faults);
  EXPECT_EQ(LaunchCount("no_such_kernel"), 0u);
}

TEST(Launch, ClearsTheFlagsOfACoreAtTheEndOfItsBlock) {
  const OwnStream stream;
  uint32_t seen[8];
  std::memset(seen, 0xff, sizeof(seen));
  ASSERT_OK(Launch(stream, npu_kernel_leave_flag_set, 8, &seen[0]));
  ASSERT_OK(npuStreamSynchronize(stream));
  for (const uint32_t count : seen) EXPECT_EQ(count, 0u);
}

TEST(Launch, StartsTheEventIdsOfACoreAnewInEachBlock) {
  const OwnStream stream;
  uint32_t ids[8];
  for (int launch = 0; launch < 2; ++launch) {
    std::memset(ids, 0xff, sizeof(ids));
    ASSERT_OK(Launch(stream, npu_kernel_first_event_id, 8, &ids[0]));
    ASSERT_OK(npuStreamSynchronize(stream));
    for (const uint32_t id : ids) EXPECT_EQ(id, 0u);
  }
}

TEST(Launch, EndsTheTf32ModeOfACoreWithABlockThatRunsNoInstruction) {
  const OwnStream stream;
  uint32_t seen[8];
  std::memset(seen, 0xff, sizeof(seen));
  ASSERT_OK(Launch(stream, npu_kernel_leave_tf32, 8, &seen[0]));
  ASSERT_OK(npuStreamSynchronize(stream));
  for (const uint32_t mode : seen) EXPECT_EQ(mode, 0u);
}

/// What a framework does with a tensor: the owner holds the memory, the launch holds the owner.
struct Owner {
  std::unique_ptr<uint32_t[]> memory = std::make_unique<uint32_t[]>(1024);
  uint32_t* result = nullptr;
  int* released = nullptr;
  uint32_t at_release = 0;

  static void Release(void* self) {
    auto* owner = static_cast<Owner*>(self);
    *owner->result = owner->memory[1];
    ++*owner->released;
    delete owner;
  }
};

TEST(Launch, KeepsItsOwnerUntilItHasRun) {
  const OwnStream stream;
  int released = 0;
  uint32_t result = 0;
  auto* owner = new Owner;
  owner->result = &result;
  owner->released = &released;
  const Args<uint32_t*, uint32_t> args(owner->memory.get(), 42u);
  npuLaunchConfig config = {&npu_kernel_append, 1,     0,       args.bytes, args.count, stream,
                            &Owner::Release,    owner, nullptr, 0};
  ASSERT_OK(npuLaunchKernelWithConfig(&config));
  owner = nullptr;  // the caller drops its reference and allocates anew
  std::vector<std::unique_ptr<uint32_t[]>> others;
  for (int i = 0; i < 64; ++i) {
    others.push_back(std::make_unique<uint32_t[]>(1024));
    std::memset(others.back().get(), 0xff, 1024 * sizeof(uint32_t));
  }
  EXPECT_EQ(released, 0);
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(released, 1);
  EXPECT_EQ(result, 42u);
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(released, 1);
}

void CountRelease(void* count) { ++*static_cast<int*>(count); }

TEST(Launch, ReleasesTheOwnerOfARefusedLaunch) {
  int released = 0;
  npuLaunchConfig config = {&npu_kernel_empty, 0,         0,       nullptr, 0, DefaultStream(),
                            &CountRelease,     &released, nullptr, 0};
  EXPECT_EQ(npuLaunchKernelWithConfig(&config), NPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(released, 1);
  config.block_dim = 1;
  config.stream = nullptr;
  EXPECT_EQ(npuLaunchKernelWithConfig(&config), NPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(released, 2);
}

TEST(Launch, ReleasesTheOwnerOfADroppedLaunch) {
  const OwnStream stream;
  int released = 0;
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
  npuLaunchConfig config = {&npu_kernel_empty, 1,         0,       nullptr, 0, stream,
                            &CountRelease,     &released, nullptr, 0};
  ASSERT_OK(npuLaunchKernelWithConfig(&config));
  EXPECT_EQ(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT);
  EXPECT_EQ(released, 1);
  EXPECT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(released, 1);
}

TEST(Launch, RefusesAKernelOfOtherHeaders) {
  const OwnStream stream;
  npuKernelPass pass = *npu_kernel_times_ten.vector;
  pass.core_layout += 1;
  const npuKernel kernel = {"old", &pass, nullptr};
  uint32_t out[1] = {}, in[1] = {};
  EXPECT_EQ(Launch(stream, kernel, 1, &out[0], &in[0]), NPU_ERROR_INVALID_VALUE);
  EXPECT_NE(std::string(npuGetLastErrorMessage())
                .find("expected a kernel compiled with the headers of this runtime, got old, "
                      "compiled with others; compile it again"),
            std::string::npos);
}

}  // namespace
}  // namespace npu_test
