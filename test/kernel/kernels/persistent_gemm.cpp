// SPDX-License-Identifier: Apache-2.0
// c = a * b by blocks that take tile after tile of c, as many as there are.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kTile = 128;  // rows and columns of c in a tile
constexpr int kDepth = 64;  // k of a step

template <class T, int kRows, int kCols>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, kRows, kCols>, Stride<1, 1, 1, DYNAMIC, 1>>;
template <int kRows, int kCols>
using InL1 =
    Tile<TileType::Mat, half, kRows, kCols, BLayout::ColMajor, kRows, kCols, SLayout::RowMajor>;

constexpr uint32_t kABytes = kTile * kDepth * sizeof(half);
constexpr uint32_t kBBytes = kDepth * kTile * sizeof(half);

/// Buffers for two steps of k.
struct Buffers {
  InL1<kTile, kDepth> a[2];
  InL1<kDepth, kTile> b[2];
  TileLeft<half, kTile, kDepth> left[2];
  TileRight<half, kDepth, kTile> right[2];
  TileAcc<float, kTile, kTile> acc;

  AICORE Buffers() {
    TASSIGN(acc, 0x0);
    for (int i = 0; i < 2; ++i) {
      TASSIGN(a[i], i * kABytes);
      TASSIGN(b[i], 2 * kABytes + i * kBBytes);
      TASSIGN(left[i], i * kABytes);
      TASSIGN(right[i], i * kBBytes);
    }
  }
};

/// acc = rows of a from its start, columns of b from its start.
AICORE void Multiply(Buffers& buffers, __gm__ half* a, __gm__ half* b, int n, int k) {
  for (int step = 0; step * kDepth < k; ++step) {
    const int at = step % 2;
    const event_t buffer = event_t(at);
    Matrix<half, kTile, kDepth> a_global(a + step * kDepth, {}, {k});
    Matrix<half, kDepth, kTile> b_global(b + int64_t{step} * kDepth * n, {}, {n});
    wait_flag(PIPE_MTE1, PIPE_MTE2, buffer);  // L1 is free
    TLOAD(buffers.a[at], a_global);
    TLOAD(buffers.b[at], b_global);
    set_flag(PIPE_MTE2, PIPE_MTE1, buffer);
    wait_flag(PIPE_MTE2, PIPE_MTE1, buffer);
    wait_flag(PIPE_M, PIPE_MTE1, buffer);  // L0 is free
    TMOV(buffers.left[at], buffers.a[at]);
    TMOV(buffers.right[at], buffers.b[at]);
    set_flag(PIPE_MTE1, PIPE_MTE2, buffer);
    set_flag(PIPE_MTE1, PIPE_M, buffer);
    wait_flag(PIPE_MTE1, PIPE_M, buffer);
    if (step == 0) {
      TMATMUL(buffers.acc, buffers.left[at], buffers.right[at]);
    } else {
      TMATMUL_ACC(buffers.acc, buffers.left[at], buffers.right[at]);
    }
    set_flag(PIPE_M, PIPE_MTE1, buffer);
  }
}

}  // namespace

/// c of m x n from a of m x k and b of k x n, m and n multiples of 128, k of 64. seen takes two
/// numbers of each block: its runs and the number of blocks that it knows of.
extern "C" __global__ AICORE void persistent_gemm(__gm__ half* a, __gm__ half* b, __gm__ float* c,
                                                  __gm__ int32_t* seen, int32_t m, int32_t n,
                                                  int32_t k) {
  seen[2 * get_block_idx()] += 1;
  seen[2 * get_block_idx() + 1] = static_cast<int32_t>(get_block_num());
  Buffers buffers;
  for (int i = 0; i < 2; ++i) {
    set_flag(PIPE_MTE1, PIPE_MTE2, event_t(i));
    set_flag(PIPE_M, PIPE_MTE1, event_t(i));
  }
  set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);  // L0C is free
  const int64_t columns = n / kTile, tiles = m / kTile * columns;
  for (int64_t tile = get_block_idx(); tile < tiles; tile += get_block_num()) {
    const int64_t row = tile / columns * kTile, col = tile % columns * kTile;
    wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
    Multiply(buffers, a + row * k, b + col, n, k);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    Matrix<float, kTile, kTile> c_global(c + row * n + col, {}, {n});
    TSTORE(c_global, buffers.acc);
    set_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  }
  wait_flag(PIPE_FIX, PIPE_M, EVENT_ID0);
  for (int i = 0; i < 2; ++i) {
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(i));
    wait_flag(PIPE_M, PIPE_MTE1, event_t(i));
  }
}
