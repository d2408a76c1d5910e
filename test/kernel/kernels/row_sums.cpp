// SPDX-License-Identifier: Apache-2.0
// Sums of rows, which depend on the order of the additions.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

template <class T, int kCols>
using RowTile = Tile<TileType::Vec, T, 1, kCols, BLayout::RowMajor, 1, DYNAMIC>;

template <class T, int kCols>
AICORE void SumRow(__gm__ T* sum, __gm__ T* row, int32_t count) {
  RowTile<T, kCols> tile(count);
  RowTile<T, 32 / sizeof(T)> result(1);
  TASSIGN(tile, 0x0);
  TASSIGN(result, sizeof(T) * kCols);
  GlobalTensor<T, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, kCols, 1>> source(row, {count});
  GlobalTensor<T, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>> target(sum);
  TLOAD(tile, source);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TROWSUM(result, tile, tile);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(target, result);
}

}  // namespace

extern "C" __global__ AICORE void sum_float(__gm__ float* sum, __gm__ float* row, int32_t count) {
  SumRow<float, 128>(sum + block_idx, row + block_idx * 128, count);
}

extern "C" __global__ AICORE void sum_int16(__gm__ int16_t* sum, __gm__ int16_t* row,
                                            int32_t count) {
  SumRow<int16_t, 70000>(sum, row, count);
}
