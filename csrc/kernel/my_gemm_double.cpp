// SPDX-License-Identifier: Apache-2.0
// c = bias + a b in float64: emulator only, for checks of gradients. No cube core multiplies
// float64, so it is done on vector cores, a row of b at a time.
#include "pto/pto-inst.hpp"
#include "tiling/gemm.h"

namespace {

using namespace pto;

constexpr int kCols = 512;  // of c at a time
constexpr unsigned kRowBytes = kCols * sizeof(double);
constexpr unsigned kB[2] = {0 * kRowBytes, 1 * kRowBytes};
constexpr unsigned kProduct = 2 * kRowBytes;
constexpr unsigned kSum = 3 * kRowBytes;

using Row = Tile<TileType::Vec, double, 1, kCols, BLayout::RowMajor, 1, -1>;
using Global = GlobalTensor<double, Shape<1, 1, 1, 1, -1>, Stride<1, 1, 1, 1, -1>>;

AICORE Row RowAt(unsigned address, int cols) {
  Row row(cols);
  TASSIGN(row, address);
  return row;
}

AICORE int64_t Offset(const GemmMatrix& matrix, int64_t row, int64_t col) {
  return matrix.turned ? LineOffset(matrix, col) + row : LineOffset(matrix, row) + col;
}

/// c[0 .. cols) = start + sums of a[k] * b[k, 0 .. cols).
AICORE void ComputeRow(__gm__ double* c, __gm__ double* a, __gm__ double* b, double start, int cols,
                       const GemmTiling& tiling) {
  Row sum = RowAt(kSum, cols), product = RowAt(kProduct, cols);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // the row before was stored
  TEXPANDS(sum, start);
  for (int64_t step = 0; step < tiling.steps; ++step) {
    for (int64_t k = 0; k < tiling.k; ++k) {
      const int buffer = static_cast<int>(k % 2);
      Row b_row = RowAt(kB[buffer], cols);
      Global global(b + step * tiling.b.step + Offset(tiling.b, k, 0), {cols},
                    {tiling.b.turned ? tiling.b.line : 1});
      wait_flag(PIPE_V, PIPE_MTE2, event_t(buffer));
      TLOAD(b_row, global);
      set_flag(PIPE_MTE2, PIPE_V, event_t(buffer));
      wait_flag(PIPE_MTE2, PIPE_V, event_t(buffer));
      TMULS(product, b_row, a[step * tiling.a.step + Offset(tiling.a, 0, k)]);
      TADD(sum, sum, product);
      set_flag(PIPE_V, PIPE_MTE2, event_t(buffer));
    }
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  Global c_global(c, {cols}, {1});
  TSTORE(c_global, sum);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}

}  // namespace

extern "C" __global__ AICORE void my_gemm_double(GM_ADDR c, GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                 GM_ADDR, GemmTiling tiling) {
  const int64_t pieces = (tiling.n + kCols - 1) / kCols;
  const int64_t count = tiling.batch * tiling.m * pieces;
  for (int i = 0; i < 2; ++i) set_flag(PIPE_V, PIPE_MTE2, event_t(i));
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  for (int64_t at = count * get_block_idx() / get_block_num();
       at < count * (get_block_idx() + 1) / get_block_num(); ++at) {
    const int64_t batch = at / pieces / tiling.m, row = at / pieces % tiling.m;
    const int64_t col = at % pieces * kCols, left = tiling.n - col;
    ComputeRow((__gm__ double*)c + batch * tiling.c_batch + row * tiling.c_row + col,
               (__gm__ double*)a + batch * tiling.a.batch + Offset(tiling.a, row, 0),
               (__gm__ double*)b + batch * tiling.b.batch + Offset(tiling.b, 0, col),
               bias ? ((__gm__ double*)bias)[row * tiling.bias] : 0,
               static_cast<int>(left < kCols ? left : kCols), tiling);
  }
  for (int i = 0; i < 2; ++i) wait_flag(PIPE_V, PIPE_MTE2, event_t(i));  // leave no flag set
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}
