// SPDX-License-Identifier: Apache-2.0
// z = x + y over n elements, a row of kColumns at a time.
#include <pto/pto-inst.hpp>

using namespace pto;

#ifndef COLUMNS
#define COLUMNS 256
#endif

namespace {

constexpr int kColumns = COLUMNS;

template <class T>
AICORE void AddInto(__gm__ T* z, __gm__ const T* x, __gm__ const T* y, uint32_t n) {
  using RowTile = Tile<TileType::Vec, T, 1, kColumns, BLayout::RowMajor, 1, DYNAMIC>;
  using Row = GlobalTensor<T, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, kColumns, 1>>;
  for (uint32_t first = block_idx * kColumns; first < n; first += block_num * kColumns) {
    const uint32_t count = n - first < kColumns ? n - first : kColumns;
    RowTile x_tile(count), y_tile(count), z_tile(count);
    TASSIGN(x_tile, 0x0);
    TASSIGN(y_tile, 0x4000);
    TASSIGN(z_tile, 0x8000);
    Row x_row(const_cast<T*>(x) + first, {count}), y_row(const_cast<T*>(y) + first, {count});
    Row z_row(z + first, {count});
    TLOAD(x_tile, x_row);
    TLOAD(y_tile, y_row);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(z_tile, x_tile, y_tile);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(z_row, z_tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
}

}  // namespace

extern "C" __global__ AICORE void add_float(__gm__ const float* x, __gm__ const float* y,
                                            __gm__ float* z, uint32_t n) {
  AddInto(z, x, y, n);
}

extern "C" __global__ AICORE void add_bytes(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n) {
  AddInto((__gm__ half*)z, (__gm__ half*)x, (__gm__ half*)y, n);
}

namespace wide {

template <class T>
__global__ AICORE void add(__gm__ T* x, __gm__ T* y, __gm__ T* z, uint32_t n) {
  AddInto(z, x, y, n);
}

}  // namespace wide
