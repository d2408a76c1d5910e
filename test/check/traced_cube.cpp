// SPDX-License-Identifier: Apache-2.0
// Products whose operands have ragged valid regions, that change after TASSIGN; COMPACT: in compact
// tiles.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kM = 64, kK = 96, kN = 80;  // of the tiles
#ifdef COMPACT
constexpr int kFrom = 16;  // column of a, row of b; operands of products move their valid region
using Left = TileLeftCompact<half, kM, kK, -1, -1>;
using Right = TileRightCompact<half, kK, kN, -1, -1>;
using Acc = TileAccCompact<float, kM, kN, -1, -1>;
#else
constexpr int kFrom = 0;  // they move their whole extent
using Left = TileLeft<half, kM, kK, -1, -1>;
using Right = TileRight<half, kK, kN, -1, -1>;
using Acc = TileAcc<float, kM, kN, -1, -1>;
#endif
template <int kRows, int kCols>
using InL1 = Tile<TileType::Mat, half, kRows, kCols, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
template <class T>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;

template <class T>
AICORE Matrix<T> MatrixAt(__gm__ T* data, int rows, int cols, int pitch) {
  return Matrix<T>(data, Shape<1, 1, 1, -1, -1>(rows, cols), Stride<1, 1, 1, -1, 1>(pitch));
}

}  // namespace

/// Twice c = the first m rows of a * the first n columns of b, of the k columns and rows from kFrom
/// on: of the sizes in a row of sizes, one after the other. a 64 x 96, b 96 x 80, c 2 x 64 x 80.
extern "C" __global__ AICORE void ragged(__gm__ half* a, __gm__ half* b, __gm__ float* c,
                                         __gm__ int32_t* sizes) {
  InL1<kM, kK> a_tile(kM, kK);
  InL1<kK, kN> b_tile(kK, kN);
  Left left(1, 1);
  Right right(1, 1);
  Acc acc(1, 1);
  TASSIGN(a_tile, 0x0);
  TASSIGN(b_tile, 0x8000);
  TASSIGN(left, 0x4000);
  TASSIGN(right, 0x2000);
  TASSIGN(acc, 0x4000);
  Matrix<half> a_global = MatrixAt(a, kM, kK, kK), b_global = MatrixAt(b, kK, kN, kN);
  TLOAD(a_tile, a_global);
  TLOAD(b_tile, b_global);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  for (int i = 0; i < 2; ++i) {
    const int m = sizes[3 * i], k = sizes[3 * i + 1], n = sizes[3 * i + 2];
    left.SetValidShape(m, k);
    right.SetValidShape(k, n);
    acc.SetValidShape(m, n);
    TEXTRACT(left, a_tile, 0, kFrom);
    TEXTRACT(right, b_tile, kFrom, 0);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(acc, left, right);
    TMATMUL_ACC(acc, left, right);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    Matrix<float> c_global = MatrixAt(c + i * kM * kN, m, n, kN);
    TSTORE(c_global, acc);
    pipe_barrier(PIPE_ALL);
  }
}
