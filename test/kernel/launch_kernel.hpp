// SPDX-License-Identifier: Apache-2.0
// Launching the kernels of csrc/kernel with their arguments as a struct.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "kernel/tiling.h"
#include "npu/half.hpp"
#include "npu_runtime.h"

namespace test {

template <class Args>
void RunKernel(const npuKernel& kernel, uint32_t blocks, const Args& args, uint32_t flags = 0) {
  npuLaunchConfig config = {};
  config.kernel = &kernel;
  config.block_dim = blocks;
  config.flags = flags;
  config.args = &args;
  config.args_bytes = sizeof(args);
  ASSERT_EQ(npuStreamGetDefault(0, &config.stream), NPU_SUCCESS);
  ASSERT_EQ(npuLaunchKernelWithConfig(&config), NPU_SUCCESS) << npuGetLastErrorMessage();
  ASSERT_EQ(npuStreamSynchronize(config.stream), NPU_SUCCESS) << npuGetLastErrorMessage();
}

/// Whole numbers from -100 to 100 and, with a fraction, values of 11 significant bits.
template <class T>
T Value(int64_t i, bool fraction) {
  const auto number = static_cast<int>(i * 37 % 201) - 100;
  return static_cast<T>(fraction ? static_cast<float>(number) * 1.0625f : number);
}

template <class T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace test
