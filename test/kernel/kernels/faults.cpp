// SPDX-License-Identifier: Apache-2.0
// Kernels that break one rule each.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

template <class T, int kRows, int kCols>
using VecTile = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, DYNAMIC, DYNAMIC>;

}  // namespace

extern "C" __global__ AICORE void beyond_space() {
  VecTile<float, 64, 1024> tile(64, 1024);
  TASSIGN(tile, 0);
}

extern "C" __global__ AICORE void misaligned() {
  VecTile<float, 1, 8> tile(1, 8);
  TASSIGN(tile, 4);
}

extern "C" __global__ AICORE void valid_region(int32_t rows) {
  VecTile<float, 8, 8> tile(rows, 8);
  TASSIGN(tile, 0);
  TADD(tile, tile, tile);
}

extern "C" __global__ AICORE void other_valid_shape() {
  VecTile<float, 8, 8> dst(8, 8), src(8, 4);
  TASSIGN(dst, 0);
  TASSIGN(src, 256);
  TADD(dst, dst, src);
}

extern "C" __global__ AICORE void refused_dtype() {
  VecTile<bfloat16_t, 1, 16> tile(1, 16);
  TASSIGN(tile, 0);
  TADD(tile, tile, tile);
}

extern "C" __global__ AICORE void float64() {
  VecTile<double, 1, 4> tile(1, 4);
  TASSIGN(tile, 0);
  TADD(tile, tile, tile);
}

extern "C" __global__ AICORE void element(int32_t offset, bool writes) {
  VecTile<float, 8, 8> tile(8, 8);
  TASSIGN(tile, 0);
  if (writes) {
    tile.SetValue(offset, 1.0f);
  } else {
    tile.SetValue(0, tile.GetValue(offset));
  }
}

extern "C" __global__ AICORE void block_length(int32_t length) {
  VecTile<float, 1, 1024> dst(1, 1024), src(1, 1024);
  TASSIGN(dst, 0);
  TASSIGN(src, 4096);
  TMRGSORT(dst, src, length);
}

extern "C" __global__ AICORE void no_address() {
  VecTile<float, 8, 8> tile(8, 8);
  TADD(tile, tile, tile);
}

extern "C" __global__ AICORE void other_core() {
  Tile<TileType::Mat, float, 16, 16> tile;
  TASSIGN(tile, 0);
}

extern "C" __global__ AICORE void global_shape(__gm__ float* x) {
  VecTile<float, 32, 32> tile(32, 32);
  TASSIGN(tile, 0);
  GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<1, 1, 1, 64, 1>> target(x);
  TSTORE(target, tile);
}

extern "C" __global__ AICORE void load_rows(__gm__ float* x, uint32_t rows) {
  VecTile<float, 32, 32> tile(rows, 32);
  TASSIGN(tile, 0);
  using Rows = GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 32>, Stride<1, 1, 1, 32, 1>>;
  Rows source(x, {rows});
  TLOAD(tile, source);
}

extern "C" __global__ AICORE void wait_without_set() {
  pipe_barrier(PIPE_ALL);
  if (block_idx == 1) wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
}

extern "C" __global__ AICORE void unknown_event() { set_flag(PIPE_V, PIPE_MTE3, event_t(8)); }

extern "C" __global__ AICORE void spin(__gm__ volatile uint32_t* flag) {
  while (*flag == 0) dcci(flag);
}

extern "C" __global__ AICORE void fill(__gm__ float* x, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) x[i] = 7;
}

namespace {

AICORE void MoveRow(__gm__ float* to, __gm__ float* from) {
  VecTile<float, 1, 8> tile(1, 8);
  TASSIGN(tile, 0);
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<1, 1, 1, 8, 1>>;
  Row source(from), target(to);
  TLOAD(tile, source);
  TSTORE(target, tile);
}

}  // namespace

/// Offsets in elements.
extern "C" __global__ AICORE void move_row(__gm__ float* to, __gm__ const float* from,
                                           int64_t to_offset, int64_t from_offset) {
  MoveRow(to + to_offset, const_cast<__gm__ float*>(from) + from_offset);
}

extern "C" __global__ AICORE void move_row_between(__gm__ float* const* pointers) {
  MoveRow(pointers[0], pointers[1]);
}

struct Row {
  __gm__ float* to;
  __gm__ float* from;
};

extern "C" __global__ AICORE void move_row_of(Row row) { MoveRow(row.to, row.from); }

extern "C" __global__ AICORE void divide(__gm__ int32_t* x, int32_t divisor) { *x = 10 / divisor; }

extern "C" __global__ AICORE void builtin_trap(__gm__ int32_t* x) {
  *x = 1;
  __builtin_trap();
}

extern "C" __global__ AICORE void fill_at(__gm__ float* x, int64_t index) { x[index] = 7; }
