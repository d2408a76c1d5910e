// SPDX-License-Identifier: Apache-2.0
#include <pto/pto-inst.hpp>

#include "scaled_add.h"

using namespace pto;

namespace {

constexpr int kColumns = 2048;                         // elements of a tile
constexpr unsigned kBytes = kColumns * sizeof(float);  // bytes of a tile
using Row = GlobalTensor<float, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, kColumns, 1>>;
using RowTile = Tile<TileType::Vec, float, 1, kColumns, BLayout::RowMajor, 1, DYNAMIC>;

}  // namespace

extern "C" __global__ AICORE void scaled_add(__gm__ float* z, __gm__ float* x, __gm__ float* y,
                                             float alpha, int64_t count) {
  for (int64_t first = block_idx * kColumns; first < count; first += block_num * kColumns) {
    const int columns = static_cast<int>(count - first < kColumns ? count - first : kColumns);
    Row x_row(x + first, {columns}), y_row(y + first, {columns}), z_row(z + first, {columns});
    RowTile x_tile(columns), y_tile(columns);
    TASSIGN(x_tile, 0 * kBytes);
    TASSIGN(y_tile, 1 * kBytes);
    TLOAD(x_tile, x_row);
    TLOAD(y_tile, y_row);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);  // x and y are loaded
    TAXPY(x_tile, y_tile, alpha);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);  // the sum is computed
    TSTORE(z_row, x_tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);  // the tiles are free for the next row
  }
}
