// SPDX-License-Identifier: Apache-2.0
// A matrix product as authors for the chip write it: loads two steps ahead, flags between the pipes
// of the cube core, one tile of the result per block.
#if defined(__DAV_C220_CUBE__)

#include <pto/common/constants.hpp>
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr uint32_t kM = 96, kK = 160, kN = 128;            // the matrices
constexpr uint32_t kTileM = 48, kTileK = 32, kTileN = 64;  // a block's part, a step of k
constexpr uint32_t kBlockRows = kM / kTileM;

using AGlobal = GlobalTensor<half, TileShape2D<half, kTileM, kTileK>, BaseShape2D<half, kM, kK>>;
using BGlobal = GlobalTensor<half, TileShape2D<half, kTileK, kTileN, Layout::DN>,
                             BaseShape2D<half, kK, kN, Layout::DN>, Layout::DN>;
using CGlobal = GlobalTensor<float, TileShape2D<float, kTileM, kTileN>, BaseShape2D<float, kM, kN>>;
using AMat =
    Tile<TileType::Mat, half, kTileM, kTileK, BLayout::ColMajor, kTileM, kTileK, SLayout::RowMajor>;
using BMat =
    Tile<TileType::Mat, half, kTileK, kTileN, BLayout::RowMajor, kTileK, kTileN, SLayout::ColMajor>;
using Left = TileLeft<half, kTileM, kTileK>;
using Right = TileRight<half, kTileK, kTileN>;
using Acc = TileAcc<float, kTileM, kTileN>;

constexpr uint32_t kABytes = kTileM * kTileK * sizeof(half);
constexpr uint32_t kBBytes = kTileK * kTileN * sizeof(half);

/// Step k of the block's sum. Tiles go by value: copies name the same memory.
AICORE void Step(uint32_t k, __gm__ half* a, __gm__ half* b, AMat a_mat, BMat b_mat, Left left,
                 Right right, Acc acc) {
  const event_t buffer = (event_t)(k % 2);
  AGlobal a_global(a + k * kTileK);
  BGlobal b_global(b + k * kTileK);
  wait_flag(PIPE_MTE1, PIPE_MTE2, buffer);  // L1 is free
  TLOAD(a_mat, a_global);
  TLOAD(b_mat, b_global);
  set_flag(PIPE_MTE2, PIPE_MTE1, buffer);
  wait_flag(PIPE_MTE2, PIPE_MTE1, buffer);
  wait_flag(PIPE_M, PIPE_MTE1, buffer);  // L0 is free
  TMOV(left, a_mat);
  TMOV(right, b_mat);
  set_flag(PIPE_MTE1, PIPE_MTE2, buffer);
  set_flag(PIPE_MTE1, PIPE_M, buffer);
  wait_flag(PIPE_MTE1, PIPE_M, buffer);
  if (k == 0) {
    TMATMUL(acc, left, right);
  } else {
    TMATMUL_ACC(acc, acc, left, right);
  }
  set_flag(PIPE_M, PIPE_MTE1, buffer);
}

}  // namespace

/// c = a * b for a of 96 x 160, b of 160 x 128 by columns; 4 blocks.
extern "C" __global__ AICORE void multiply_tiles(GM_ADDR a, GM_ADDR b, GM_ADDR c) {
  const uint32_t row = get_block_idx() % kBlockRows * kTileM;
  const uint32_t col = get_block_idx() / kBlockRows * kTileN;
  AMat a_mat[2];
  BMat b_mat[2];
  Left left[2];
  Right right[2];
  Acc acc;
  TASSIGN(acc, 0x0);
  for (uint32_t i = 0; i < 2; ++i) {
    TASSIGN(a_mat[i], i * kABytes);
    TASSIGN(b_mat[i], 2 * kABytes + i * kBBytes);
    TASSIGN(left[i], i * kABytes);
    TASSIGN(right[i], i * kBBytes);
    set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
    set_flag(PIPE_M, PIPE_MTE1, (event_t)i);
  }
  for (uint32_t k = 0; k < kK / kTileK; ++k) {
    Step(k, (__gm__ half*)a + row * kK, (__gm__ half*)b + col * kK, a_mat[k % 2], b_mat[k % 2],
         left[k % 2], right[k % 2], acc);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i);
    wait_flag(PIPE_M, PIPE_MTE1, (event_t)i);
  }
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  CGlobal c_global((__gm__ float*)c + row * kN + col);
  TSTORE(c_global, acc);
}

#endif
