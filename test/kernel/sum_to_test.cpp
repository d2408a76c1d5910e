// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "launch_kernel.hpp"

extern "C" {
extern const npuKernel npu_kernel_sum_to_float;
extern const npuKernel npu_kernel_sum_to_half;
extern const npuKernel npu_kernel_sum_to_bfloat16;
extern const npuKernel npu_kernel_sum_to_double;
}

namespace {

struct Args {
  void *z, *x;
  SumTiling tiling;
};

/// Sums of small whole numbers: exact in float in any order, then rounded once.
template <class T>
void CheckSum(const npuKernel& kernel, int64_t rows, int64_t cols, bool keep_rows, bool keep_cols,
              uint32_t flags = 0) {
  std::vector<T> x(rows * cols);
  for (int64_t i = 0; i < rows * cols; ++i) x[i] = test::Value<T>(i, false);
  const int64_t z_rows = keep_rows ? rows : 1, z_cols = keep_cols ? cols : 1;
  std::vector<T> z(z_rows * z_cols, T(-1));
  Args args = {z.data(), x.data(), {}};
  SumTiling& tiling = args.tiling;
  tiling.dims = 2;
  const int64_t shape[] = {rows, cols}, x_stride[] = {cols, 1}, z_stride[] = {z_cols, 1};
  const bool kept[] = {keep_rows, keep_cols};
  for (int d = 0; d < 2; ++d) {
    tiling.shape[d] = shape[d];
    tiling.x_stride[d] = x_stride[d];
    tiling.z_stride[d] = z_stride[d];
    tiling.kept[d] = kept[d];
  }
  test::RunKernel(kernel, 3, args, flags);
  for (int64_t row = 0; row < z_rows; ++row) {
    for (int64_t col = 0; col < z_cols; ++col) {
      double sum = 0;
      for (int64_t i = row; i < (keep_rows ? row + 1 : rows); ++i) {
        for (int64_t j = col; j < (keep_cols ? col + 1 : cols); ++j) {
          sum += static_cast<double>(x[i * cols + j]);
        }
      }
      const T expected = static_cast<T>(static_cast<float>(sum));
      ASSERT_TRUE(test::SameBits(z[row * z_cols + col], expected))
          << rows << "x" << cols << " element " << row << ", " << col;
    }
  }
}

template <class T>
void CheckShapes(const npuKernel& kernel, uint32_t flags = 0) {
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{1, 1}, {7, 3}, {260, 9}, {3, 4099}}) {
    CheckSum<T>(kernel, rows, cols, true, false, flags);
    CheckSum<T>(kernel, rows, cols, false, true, flags);
    CheckSum<T>(kernel, rows, cols, false, false, flags);
  }
}

TEST(SumTo, EqualsThePlainLoop) {
  CheckShapes<float>(npu_kernel_sum_to_float);
  CheckShapes<half>(npu_kernel_sum_to_half);
  CheckShapes<bfloat16_t>(npu_kernel_sum_to_bfloat16);
  CheckShapes<double>(npu_kernel_sum_to_double, NPU_LAUNCH_FLOAT64);
}

}  // namespace
