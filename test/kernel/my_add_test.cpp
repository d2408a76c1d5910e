// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "launch_kernel.hpp"

extern "C" {
extern const npuKernel npu_kernel_my_add_float;
extern const npuKernel npu_kernel_my_add_half;
extern const npuKernel npu_kernel_my_add_bfloat16;
extern const npuKernel npu_kernel_my_add_int32;
extern const npuKernel npu_kernel_my_add_double;
}

namespace {

struct Args {
  void *z, *x, *y;
  ElementwiseTiling<2> tiling;
};

/// z = x + y over rows x cols; y is a matrix, a row (row_step 0) or a number (both steps 0).
template <class T>
void CheckAdd(const npuKernel& kernel, int64_t rows, int64_t cols, int64_t row_step,
              int64_t col_step, uint32_t flags = 0) {
  std::vector<T> x(rows * cols), y(rows * cols), z(rows * cols, T(-1));
  for (int64_t i = 0; i < rows * cols; ++i) {
    x[i] = test::Value<T>(i, true);
    y[i] = test::Value<T>(i + 5, false);
  }
  Args args = {z.data(), x.data(), y.data(), {}};
  args.tiling.dims = 2;
  const int64_t shape[] = {rows, cols}, whole[] = {cols, 1}, part[] = {row_step, col_step};
  for (int d = 0; d < 2; ++d) {
    args.tiling.shape[d] = shape[d];
    args.tiling.stride[0][d] = args.tiling.stride[1][d] = whole[d];
    args.tiling.stride[2][d] = part[d];
  }
  test::RunKernel(kernel, 5, args, flags);
  for (int64_t i = 0; i < rows * cols; ++i) {
    const T other = y[i / cols * row_step + i % cols * col_step];
    ASSERT_TRUE(test::SameBits(z[i], static_cast<T>(x[i] + other)))
        << rows << " " << cols << " element " << i;
  }
}

template <class T>
void CheckShapes(const npuKernel& kernel, uint32_t flags = 0) {
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {130, 9}, {5, 4099}}) {
    CheckAdd<T>(kernel, rows, cols, cols, 1, flags);
    CheckAdd<T>(kernel, rows, cols, 0, 1, flags);
    CheckAdd<T>(kernel, rows, cols, 1, 0, flags);
    CheckAdd<T>(kernel, rows, cols, 0, 0, flags);
  }
}

TEST(MyAdd, EqualsThePlainLoopBitForBit) {
  CheckShapes<float>(npu_kernel_my_add_float);
  CheckShapes<half>(npu_kernel_my_add_half);
  CheckShapes<bfloat16_t>(npu_kernel_my_add_bfloat16);
  CheckShapes<int32_t>(npu_kernel_my_add_int32);
  CheckShapes<double>(npu_kernel_my_add_double, NPU_LAUNCH_FLOAT64);
}

}  // namespace
