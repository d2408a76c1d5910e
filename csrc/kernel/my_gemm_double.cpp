// SPDX-License-Identifier: Apache-2.0
// c = bias + a b in float64: emulator only, for checks of gradients. No cube core multiplies
// float64, so it is done on vector cores, a row of b at a time.
#include "pto/pto-inst.hpp"
#include "tiling/gemm.h"

namespace {

using namespace pto;

constexpr int kCols = 512;  // of c at a time

/// A part of a row of b or c: as a row of a tile, or, where b is turned and neighbours lie apart in
/// memory, as a column with a block of 32 bytes for each.
template <bool kTurned>
struct Line {
  static constexpr int kRows = kTurned ? kCols : 1;
  using Type = Tile<TileType::Vec, double, kRows, kTurned ? 4 : kCols, BLayout::RowMajor, -1, -1>;
  using Global = GlobalTensor<double, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;

  /// In buffer number index of UB.
  AICORE static Type At(int index, int count) {
    Type line(kTurned ? count : 1, kTurned ? 1 : count);
    TASSIGN(line, static_cast<unsigned>(index) * Type::Numel * sizeof(double));
    return line;
  }
  /// Elements that lie step apart, which is 1 where b is not turned.
  AICORE static Global Of(__gm__ double* data, int count, int64_t step) {
    return kTurned ? Global(data, {count, 1}, {step}) : Global(data, {1, count}, {count});
  }
};

AICORE int64_t Offset(const GemmMatrix& matrix, int64_t row, int64_t col) {
  return matrix.turned ? LineOffset(matrix, col) + row : LineOffset(matrix, row) + col;
}

/// c[0 .. cols) = start + sums of a[k] * b[k, 0 .. cols).
template <bool kTurned>
AICORE void ComputeRow(__gm__ double* c, __gm__ double* a, __gm__ double* b, double start, int cols,
                       const GemmTiling& tiling) {
  using LineOf = Line<kTurned>;
  auto sum = LineOf::At(2, cols), product = LineOf::At(3, cols);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // the row before was stored
  TEXPANDS(sum, start);
  for (int64_t step = 0; step < tiling.steps; ++step) {
    for (int64_t k = 0; k < tiling.k; ++k) {
      const int buffer = static_cast<int>(k % 2);
      auto b_row = LineOf::At(buffer, cols);
      auto global =
          LineOf::Of(b + step * tiling.b.step + Offset(tiling.b, k, 0), cols, tiling.b.line);
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
  auto c_global = LineOf::Of(c, cols, 1);
  TSTORE(c_global, sum);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}

template <bool kTurned>
AICORE void Run(__gm__ double* c, __gm__ double* a, __gm__ double* b, __gm__ double* bias,
                const GemmTiling& tiling) {
  const int64_t pieces = (tiling.n + kCols - 1) / kCols;
  const int64_t count = tiling.batch * tiling.m * pieces;
  for (int i = 0; i < 2; ++i) set_flag(PIPE_V, PIPE_MTE2, event_t(i));
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  for (int64_t at = count * get_block_idx() / get_block_num();
       at < count * (get_block_idx() + 1) / get_block_num(); ++at) {
    const int64_t batch = at / pieces / tiling.m, row = at / pieces % tiling.m;
    const int64_t col = at % pieces * kCols, left = tiling.n - col;
    ComputeRow<kTurned>(c + batch * tiling.c_batch + row * tiling.c_row + col,
                        a + batch * tiling.a.batch + Offset(tiling.a, row, 0),
                        b + batch * tiling.b.batch + Offset(tiling.b, 0, col),
                        bias != nullptr ? bias[row * tiling.bias] : 0,
                        static_cast<int>(left < kCols ? left : kCols), tiling);
  }
  for (int i = 0; i < 2; ++i) wait_flag(PIPE_V, PIPE_MTE2, event_t(i));  // leave no flag set
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}

}  // namespace

extern "C" __global__ AICORE void my_gemm_double(GM_ADDR c, GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                 GM_ADDR, GemmTiling tiling) {
  const auto run = tiling.b.turned ? Run<true> : Run<false>;
  run((__gm__ double*)c, (__gm__ double*)a, (__gm__ double*)b, (__gm__ double*)bias, tiling);
}
