// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "npu/half.hpp"
#include "npu_runtime.h"

extern "C" const npuKernel npu_kernel_add_rows;

namespace {

TEST(KernelOfTheChip, AddsWithPingPongOnTwentyBlocks) {
  constexpr uint32_t kRows = 77, kColumns = 512;
  std::vector<half> x(kRows * kColumns), y(x.size()), z(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<half>(static_cast<int>(i % 100));
    y[i] = static_cast<half>(static_cast<int>(i % 7));
  }
  const struct {
    void *x, *y, *z;
    uint32_t rows;
  } args = {x.data(), y.data(), z.data(), kRows};
  npuStream_t stream = nullptr;
  ASSERT_EQ(npuStreamGetDefault(0, &stream), NPU_SUCCESS);
  ASSERT_EQ(npuLaunchKernel(&npu_kernel_add_rows, 20, &args, sizeof(args), stream), NPU_SUCCESS)
      << npuGetLastErrorMessage();
  ASSERT_EQ(npuStreamSynchronize(stream), NPU_SUCCESS) << npuGetLastErrorMessage();
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(static_cast<int>(z[i]), static_cast<int>(i % 100 + i % 7)) << i;
}

}  // namespace
