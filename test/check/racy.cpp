// SPDX-License-Identifier: Apache-2.0
// y = 2 x for 256 elements, and the same with a fault of each kind: FAULT says which.
#include <pto/pto-inst.hpp>

using namespace pto;

#define RIGHT 0
#define NO_FLAG 1         // nothing makes V wait for the load
#define NO_FLAG_BACK 2    // nothing makes the load of the next row wait for V
#define LEFT_SET 3        // a flag that nobody waits for
#define UNWRITTEN 4       // a tile that nothing is loaded into
#define BLOCKS_COLLIDE 5  // all blocks store to the same place
#define LEFT_BETWEEN 6    // a flag of all blocks that nobody waits for

extern "C" __global__ AICORE void twice(__gm__ float* x, __gm__ float* y, uint32_t rows) {
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<1, 1, 1, 256, 1>>;
  using RowTile = Tile<TileType::Vec, float, 1, 256>;
  for (uint32_t row = block_idx; row < rows; row += block_num) {
    Row x_row(x + row * 256), y_row(y + (FAULT == BLOCKS_COLLIDE ? 0 : row * 256));
    RowTile x_tile, y_tile;
    TASSIGN(x_tile, 0x0);
    TASSIGN(y_tile, 0x400);
    if (FAULT != UNWRITTEN) {
      TLOAD(x_tile, x_row);
    }
    if (FAULT != NO_FLAG) {
      set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    }
    TADD(y_tile, x_tile, x_tile);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(y_row, y_tile);
    if (FAULT != NO_FLAG_BACK) {
      set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
      wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    }
  }
  if (FAULT == LEFT_SET) {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
  }
  if (FAULT == LEFT_BETWEEN) {
    ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(0, 3));
  }
}
