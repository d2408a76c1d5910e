// SPDX-License-Identifier: Apache-2.0
// z = x + y over and over, a tile of 8 KiB at a time, with two buffers and the flags that they
// need.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kCount = 2048;  // elements of a tile
constexpr unsigned kTileBytes = kCount * sizeof(float);

using Row = GlobalTensor<float, Shape<1, 1, 1, 1, kCount>, Stride<1, 1, 1, kCount, 1>>;
using VecTile = Tile<TileType::Vec, float, 1, kCount>;

}  // namespace

AICORE void add_rows(__gm__ float* x, __gm__ float* y, __gm__ float* z, int64_t rows,
                     int64_t times) {
  VecTile x_tile[2], y_tile[2];
  for (int b = 0; b < 2; ++b) {
    TASSIGN(x_tile[b], 2 * b * kTileBytes);
    TASSIGN(y_tile[b], (2 * b + 1) * kTileBytes);
    set_flag(PIPE_MTE3, PIPE_MTE2, b);
  }
  for (int64_t i = 0; i < times; ++i) {
    const int b = i & 1;
    const int64_t at = i % rows * kCount;
    Row x_row(x + at), y_row(y + at), z_row(z + at);
    wait_flag(PIPE_MTE3, PIPE_MTE2, b);
    TLOAD(x_tile[b], x_row);
    TLOAD(y_tile[b], y_row);
    set_flag(PIPE_MTE2, PIPE_V, b);
    wait_flag(PIPE_MTE2, PIPE_V, b);
    TADD(x_tile[b], x_tile[b], y_tile[b]);
    set_flag(PIPE_V, PIPE_MTE3, b);
    wait_flag(PIPE_V, PIPE_MTE3, b);
    TSTORE(z_row, x_tile[b]);
    set_flag(PIPE_MTE3, PIPE_MTE2, b);
  }
  for (int b = 0; b < 2; ++b) wait_flag(PIPE_MTE3, PIPE_MTE2, b);
}
