// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "npu/half.hpp"
#include "npu_runtime.h"

extern "C" const npuKernel npu_kernel_add_rows;
extern "C" const npuKernel npu_kernel_multiply_tiles;

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

TEST(KernelOfTheChip, MultipliesMatricesTileByTile) {
  constexpr int kM = 96, kK = 160, kN = 128;
  std::vector<half> a(kM * kK), b(kN * kK);  // b column after column
  std::vector<float> c(kM * kN, -1.0f);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<half>(static_cast<int>(i % 13) - 6);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<half>(static_cast<int>(i % 11) - 5);
  const struct {
    void *a, *b, *c;
  } args = {a.data(), b.data(), c.data()};
  npuStream_t stream = nullptr;
  ASSERT_EQ(npuStreamGetDefault(0, &stream), NPU_SUCCESS);
  ASSERT_EQ(npuLaunchKernel(&npu_kernel_multiply_tiles, 4, &args, sizeof(args), stream),
            NPU_SUCCESS)
      << npuGetLastErrorMessage();
  ASSERT_EQ(npuStreamSynchronize(stream), NPU_SUCCESS) << npuGetLastErrorMessage();
  for (int row = 0; row < kM; ++row) {
    for (int col = 0; col < kN; ++col) {
      float expected = 0;  // whole numbers below 2^24: exact
      for (int k = 0; k < kK; ++k) {
        expected += static_cast<float>(a[row * kK + k]) * static_cast<float>(b[col * kK + k]);
      }
      ASSERT_EQ(c[row * kN + col], expected) << row << " " << col;
    }
  }
}

}  // namespace
