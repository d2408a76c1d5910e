// SPDX-License-Identifier: Apache-2.0
// Cores that hand on what they have made: the vector cores of a block to its cube core, and back,
// through global memory; and all blocks to all. Vector cores that make the same.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kRows = 32, kCols = 32;  // of a matrix
using Half = GlobalTensor<half, Shape<1, 1, 1, kRows / 2, kCols>, Stride<1, 1, 1, kCols, 1>>;
using Matrix = GlobalTensor<half, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
using Result = GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, kCols, 1>>;
using HalfResult = GlobalTensor<float, Shape<1, 1, 1, kRows / 2, kCols>, Stride<1, 1, 1, kCols, 1>>;
using InL1 =
    Tile<TileType::Mat, half, kRows, kCols, BLayout::ColMajor, kRows, kCols, SLayout::RowMajor>;

#ifdef __DAV_CUBE__

AICORE void Work(__gm__ half*, __gm__ half* twice, __gm__ float* square, __gm__ float*) {
  InL1 in_l1;
  TileLeft<half, kRows, kCols> left;
  TileRight<half, kRows, kCols> right;
  TileAcc<float, kRows, kCols> acc;
  TASSIGN(in_l1, 0);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  Matrix from(twice);
  Result to(square);
  wait_flag_dev(0);  // both halves are there
  TLOAD(in_l1, from);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(left, in_l1);
  TMOV(right, in_l1);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(acc, left, right);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(to, acc);
  ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 1));
}

#else

AICORE void Work(__gm__ half* x, __gm__ half* twice, __gm__ float* square, __gm__ float* y) {
  const auto first = static_cast<int>(get_subblockid()) * kRows / 2 * kCols;
  Tile<TileType::Vec, half, kRows / 2, kCols> tile;
  Tile<TileType::Vec, float, kRows / 2, kCols> result;
  TASSIGN(tile, 0x0);
  TASSIGN(result, 0x400);
  Half from(x + first), to(twice + first);
  HalfResult squared(square + first), last(y + first);
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(tile, tile, tile);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
  ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(2, 0));
  wait_flag_dev(1);  // the square is there
  TLOAD(result, squared);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADDS(result, result, 1.0f);
  pipe_barrier(PIPE_ALL);
  TSTORE(last, result);
}

#endif

}  // namespace

/// y = (2 x)^2 + 1, the square that of a matrix; one for each block.
extern "C" __global__ AICORE void handover(__gm__ half* x, __gm__ half* twice, __gm__ float* square,
                                           __gm__ float* y) {
  const int64_t at = get_block_idx() * kRows * kCols;
  Work(x + at, twice + at, square + at, y + at);
}

/// y = x, of each block a row, which both of its vector cores store.
extern "C" __global__ AICORE void store_twice(__gm__ float* x, __gm__ float* y) {
#ifndef __DAV_CUBE__
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>;
  Tile<TileType::Vec, float, 1, 64> tile;
  TASSIGN(tile, 0x0);
  Row from(x + 64 * get_block_idx()), to(y + 64 * get_block_idx());
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
#endif
}

#ifndef __DAV_CUBE__

/// y = the rows of x, each moved on by one block.
extern "C" __global__ AICORE void round_trip(__gm__ float* x, __gm__ float* way, __gm__ float* y) {
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>;
  Tile<TileType::Vec, float, 1, 64> tile;
  TASSIGN(tile, 0x0);
  const int64_t block = get_block_idx(), next = (block + 1) % get_block_num();
  Row from(x + 64 * block), mine(way + 64 * block), other(way + 64 * next), to(y + 64 * block);
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
  tile.SetValue(0, tile.GetValue(0) + 1);
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  TSTORE(mine, tile);
  SYNCALL<SyncCoreType::AIVOnly>();
  TLOAD(tile, other);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
}

#endif
