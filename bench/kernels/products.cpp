// SPDX-License-Identifier: Apache-2.0
// Products of matrices on a cube core.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kM = 128, kN = 256;  // of the tiles in L0

template <int kRows, int kCols>
using InL1 =
    Tile<TileType::Mat, half, kRows, kCols, BLayout::ColMajor, kRows, kCols, SLayout::RowMajor>;

/// Tiles of a product over kK elements.
template <int kK>
struct CubeTiles {
  InL1<kM, kK> a1;
  InL1<kK, kN> b1;
  TileLeft<half, kM, kK> a;
  TileRight<half, kK, kN> b;
  TileAcc<float, kM, kN> c;

  CubeTiles() {
    TASSIGN(a1, 0);
    TASSIGN(b1, kM * kK * sizeof(half));
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
  }
};

template <class T>
using MatrixView = GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>>;

void Arrived(pipe_t from, pipe_t to) {
  set_flag(from, to, EVENT_ID0);
  wait_flag(from, to, EVENT_ID0);
}

/// Brings operands from global memory to L0.
template <class Tiles>
void ToL0(Tiles& tiles, MatrixView<half>& a, MatrixView<half>& b) {
  TLOAD(tiles.a1, a);
  TLOAD(tiles.b1, b);
  Arrived(PIPE_MTE2, PIPE_MTE1);
  TEXTRACT(tiles.a, tiles.a1, 0, 0);
  TEXTRACT(tiles.b, tiles.b1, 0, 0);
  Arrived(PIPE_MTE1, PIPE_M);
}

}  // namespace

/// c = a * b over and over on tiles in L0; a of 128 x 64, b of 64 x 256.
AICORE void multiply_tiles(int64_t times, half* x, half* y) {
  constexpr int kK = 64;
  CubeTiles<kK> tiles;
  MatrixView<half> a(x, {kM, kK}, {kK}), b(y, {kK, kN}, {kN});
  ToL0(tiles, a, b);
  for (int64_t i = 0; i < times; ++i) TMATMUL(tiles.c, tiles.a, tiles.b);
}

/// out = x * y; m is a multiple of 128, k of 128, n of 256.
AICORE void multiply(half* x, half* y, float* out, int64_t m, int64_t k, int64_t n) {
  constexpr int kK = 128;
  CubeTiles<kK> tiles;
  for (int64_t row = 0; row < m; row += kM) {
    for (int64_t col = 0; col < n; col += kN) {
      for (int64_t at = 0; at < k; at += kK) {
        MatrixView<half> a(x + row * k + at, {kM, kK}, {k}), b(y + at * n + col, {kK, kN}, {n});
        ToL0(tiles, a, b);
        if (at == 0) {
          TMATMUL(tiles.c, tiles.a, tiles.b);
        } else {
          TMATMUL_ACC(tiles.c, tiles.c, tiles.a, tiles.b);
        }
        Arrived(PIPE_M, PIPE_MTE2);
      }
      Arrived(PIPE_M, PIPE_FIX);
      MatrixView<float> c(out + row * n + col, {kM, kN}, {n});
      TSTORE(c, tiles.c);
      Arrived(PIPE_FIX, PIPE_M);
    }
  }
}
