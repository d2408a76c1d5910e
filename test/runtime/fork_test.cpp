// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "child.hpp"
#include "runtime_test.hpp"

namespace npu_test {
namespace {

/// The tests run in this order in one process: before and after the first use of the device.
TEST(Fork, BeforeTheFirstUseGivesAChildThatWorks) {
  int count = 0;
  ASSERT_OK(npuGetDeviceCount(&count));
  const std::string got = InChild([] {
    uint32_t in[1] = {7};
    uint32_t out[1] = {};
    npuStream_t stream = nullptr;
    if (npuStreamGetDefault(0, &stream) != NPU_SUCCESS)
      return std::string(npuGetLastErrorMessage());
    if (Launch(stream, npu_kernel_times_ten, 1, &out[0], &in[0]) != NPU_SUCCESS ||
        npuStreamSynchronize(stream) != NPU_SUCCESS) {
      return std::string(npuGetLastErrorMessage());
    }
    return std::to_string(out[0]);
  });
  EXPECT_EQ(got, "70");
}

TEST(Fork, AfterUseGivesAClearErrorInTheChildAndLeavesTheParentWhole) {
  const OwnStream stream;
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 5u));
  EXPECT_EQ(npuStreamQuery(stream), NPU_ERROR_NOT_READY);  // starts the background thread
  ASSERT_OK(npuStreamSynchronize(stream));
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 6u));  // pending at the fork

  const std::string parent = std::to_string(getpid());
  const std::string got = InChild([&] {
    if (npuStreamSynchronize(stream) != NPU_ERROR_FORKED) return std::string("no error");
    std::string text = npuGetLastErrorMessage();
    void* pointer = nullptr;
    int count = 0;
    npuStream_t created = nullptr;
    int released = 0;
    npuLaunchConfig config = {&npu_kernel_empty,
                              1,
                              0,
                              nullptr,
                              0,
                              stream,
                              [](void* owner) { ++*static_cast<int*>(owner); },
                              &released,
                              nullptr,
                              0};
    const bool all =
        npuMalloc(&pointer, 64) == NPU_ERROR_FORKED && npuFree(&pointer) == NPU_ERROR_FORKED &&
        npuStreamCreate(&created) == NPU_ERROR_FORKED &&
        npuStreamQuery(stream) == NPU_ERROR_FORKED &&
        npuLaunchKernelWithConfig(&config) == NPU_ERROR_FORKED && released == 1 &&
        npuDeviceSynchronize() == NPU_ERROR_FORKED && npuGetDeviceCount(&count) == NPU_ERROR_FORKED;
    return text + (all ? "" : "; not every call returned NPU_ERROR_FORKED");
  });
  EXPECT_EQ(got.find("npuStreamSynchronize: expected the process that first used the device (pid " +
                     parent + "), got its forked child (pid "),
            0u)
      << got;
  EXPECT_NE(got.find("use the spawn start method"), std::string::npos) << got;
  EXPECT_EQ(got.find("not every call"), std::string::npos) << got;

  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[0], 2u);
  ExpectGoodLaunch(stream);
}

}  // namespace
}  // namespace npu_test
