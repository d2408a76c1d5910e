// SPDX-License-Identifier: Apache-2.0
// Operands of many kinds: masks, sums of rows, bfloat16, parts of tiles in boxes, and a fault.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kRows = 16, kCols = 64;  // of a tile

template <class T, int kValid = kCols>
using Rows = Tile<TileType::Vec, T, kRows, kCols, BLayout::RowMajor, kRows, kValid>;
template <class T, int kValid = kCols>
using Global = GlobalTensor<T, Shape<1, 1, 1, kRows, kValid>, Stride<1, 1, 1, kCols, 1>>;

}  // namespace

#ifndef __DAV_CUBE__

/// y = the greater of x and 0, by a mask; sums = those of the first 40 columns of each row; narrow
/// = y in bfloat16.
extern "C" __global__ AICORE void operands(__gm__ half* x, __gm__ half* y, __gm__ half* sums,
                                           __gm__ bfloat16_t* narrow) {
  Rows<half> x_tile, y_tile, zeros;
  Rows<half, 40> part;
  Tile<TileType::Vec, uint8_t, kRows, 32, BLayout::RowMajor, kRows, kCols / 8> mask;
  Tile<TileType::Vec, half, kRows, 1, BLayout::ColMajor> sum_tile;
  Rows<float> wide;
  Rows<bfloat16_t> narrow_tile;
  TASSIGN(x_tile, 0x0);
  TASSIGN(part, 0x0);
  TASSIGN(y_tile, 0x1000);
  TASSIGN(zeros, 0x2000);
  TASSIGN(mask, 0x3000);
  TASSIGN(sum_tile, 0x3800);
  TASSIGN(wide, 0x4000);
  TASSIGN(narrow_tile, 0x6000);
  Global<half> from(x), to(y);
  GlobalTensor<half, Shape<1, 1, 1, kRows, 1>, Stride<1, 1, 1, 1, 1>, Layout::DN> sums_global(sums);
  Global<bfloat16_t> narrow_global(narrow);
  TLOAD(x_tile, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TCMPS(mask, x_tile, half(0.0f), CmpMode::GT);
  TEXPANDS(zeros, half(0.0f));
  TSEL(y_tile, mask, x_tile, zeros, wide);
  TROWSUM(sum_tile, part, wide);
  TCVT(wide, y_tile, RoundMode::CAST_NONE);
  TCVT(narrow_tile, wide, RoundMode::CAST_RINT);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, y_tile);
  TSTORE(sums_global, sum_tile);
  TSTORE(narrow_global, narrow_tile);
}

/// y = x + 1, but for the first element, which the scalar unit doubles; then a load past the end.
extern "C" __global__ AICORE void stops(__gm__ float* x, __gm__ float* y) {
  Rows<float> tile;
  TASSIGN(tile, 0x0);
  Global<float> from(x), to(y), beyond(x + (int64_t{1} << 30));
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADDS(tile, tile, 1.0f);
  set_flag(PIPE_V, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
  tile.SetValue(0, 2 * tile.GetValue(0));
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
#ifdef STOPS
  TLOAD(tile, beyond);
#endif
}

#else

/// c = the lower 16 rows of a * the right 16 columns of b, both of 32 x 32.
extern "C" __global__ AICORE void corner(__gm__ half* a, __gm__ half* b, __gm__ float* c) {
  constexpr int kAll = 32, kPart = 16;
  using Matrix = GlobalTensor<half, Shape<1, 1, 1, kAll, kAll>, Stride<1, 1, 1, kAll, 1>>;
  using Result = GlobalTensor<float, Shape<1, 1, 1, kPart, kPart>, Stride<1, 1, 1, kPart, 1>>;
  using InL1 =
      Tile<TileType::Mat, half, kAll, kAll, BLayout::ColMajor, kAll, kAll, SLayout::RowMajor>;
  InL1 a_tile, b_tile;
  TileLeft<half, kPart, kAll> left;
  TileRight<half, kAll, kPart> right;
  TileAcc<float, kPart, kPart> acc;
  TASSIGN(a_tile, 0x0);
  TASSIGN(b_tile, 0x1000);
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TASSIGN(acc, 0x0);
  Matrix a_global(a), b_global(b);
  Result c_global(c);
  TLOAD(a_tile, a_global);
  TLOAD(b_tile, b_global);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TEXTRACT(left, a_tile, kPart, 0);
  TEXTRACT(right, b_tile, 0, kPart);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(acc, left, right);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(c_global, acc);
}

#endif
