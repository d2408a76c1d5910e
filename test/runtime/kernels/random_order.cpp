// SPDX-License-Identifier: Apache-2.0
// Kernels of vector cores, right and without a flag that they need.
#include <cstdint>
#include <stdexcept>

#include "pto/instr/assign.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/instr/load.hpp"
#include "pto/instr/scalar.hpp"
#include "pto/instr/store.hpp"
#include "pto/syncall.hpp"

using namespace pto;

namespace {

constexpr int kTile = 64;
constexpr unsigned kTileBytes = kTile * sizeof(float);

using Vec = Tile<TileType::Vec, float, 1, kTile>;
using Global = GlobalTensor<float, Shape<1, 1, 1, 1, kTile>, Stride<1, 1, 1, kTile, 1>>;

/// How often each flag is set and waited for.
struct Flags {
  int loaded, added;
};

AICORE void Add(__gm__ float* z, __gm__ float* x, __gm__ float* y, const Flags& flags) {
  Global x_global(x), y_global(y), z_global(z);
  Vec a, b, c;
  TASSIGN(a, 0);
  TASSIGN(b, kTileBytes);
  TASSIGN(c, 2 * kTileBytes);
  TLOAD(a, x_global);
  TLOAD(b, y_global);
  for (int i = 0; i < flags.loaded; ++i) {
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  }
  TADD(c, a, b);
  for (int i = 0; i < flags.added; ++i) {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  }
  TSTORE(z_global, c);
}

}  // namespace

extern "C" __global__ AICORE void ordered_add(__gm__ float* z, __gm__ float* x, __gm__ float* y,
                                              int32_t loaded, int32_t added) {
  const uint32_t first = block_idx * kTile;
  Add(z + first, x + first, y + first, {loaded, added});
}

// z = x + 1, tile after tile in two buffers; with holds false the next but one load does not wait
// until the buffer is stored.
extern "C" __global__ AICORE void ping_pong_add(__gm__ float* z, __gm__ float* x, int32_t tiles,
                                                int32_t holds) {
  Vec tile[2];
  for (int b = 0; b < 2; ++b) {
    TASSIGN(tile[b], b * kTileBytes);
    if (holds) set_flag(PIPE_MTE3, PIPE_MTE2, event_t(b));
  }
  for (int i = 0, b = 0; i < tiles; ++i, b ^= 1) {
    Global from(x + i * kTile), to(z + i * kTile);
    if (holds) wait_flag(PIPE_MTE3, PIPE_MTE2, event_t(b));
    TLOAD(tile[b], from);
    set_flag(PIPE_MTE2, PIPE_V, event_t(b));
    wait_flag(PIPE_MTE2, PIPE_V, event_t(b));
    TADDS(tile[b], tile[b], 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, event_t(b));
    wait_flag(PIPE_V, PIPE_MTE3, event_t(b));
    TSTORE(to, tile[b]);
    if (holds) set_flag(PIPE_MTE3, PIPE_MTE2, event_t(b));
  }
  for (int b = 0; holds && b < 2; ++b) wait_flag(PIPE_MTE3, PIPE_MTE2, event_t(b));
}

// z = x; the first element of each tile says how many tiles further the next one is, the last holds
// that number once more when it is stored: reads and writes of the scalar pipe.
extern "C" __global__ AICORE void steered_copy(__gm__ float* z, __gm__ float* x, int32_t tiles,
                                               int32_t waits) {
  Vec tile;
  TASSIGN(tile, 0);
  for (int i = 0, step = 0; i < tiles; i += step) {
    Global from(x + i * kTile), to(z + i * kTile);
    TLOAD(tile, from);
    if (waits) {
      set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    }
    const float found = tile.GetValue(0);
    if (!(found >= 0 && found < 4)) return;  // a NaN too
    step = static_cast<int>(found);
    tile.SetValue(kTile - 1, found);
    set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, tile);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    if (step == 0) return;
  }
}

// Tiles by barriers alone: pipe_barrier(PIPE_ALL) behind each step, if barriers says so.
extern "C" __global__ AICORE void barrier_add(__gm__ float* z, __gm__ float* x, int32_t barriers) {
  Global from(x + block_idx * kTile), to(z + block_idx * kTile);
  Vec tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  if (barriers) pipe_barrier(PIPE_ALL);
  TADDS(tile, tile, 1.0f);
  TADDS(tile, tile, 1.0f);  // one pipe keeps its order
  if (barriers) pipe_barrier(PIPE_ALL);
  TSTORE(to, tile);
}

// Each block hands its tile to the next one through buffer; SYNCALL stands between, if meets.
extern "C" __global__ AICORE void hand_on(__gm__ float* z, __gm__ float* x, __gm__ float* buffer,
                                          int32_t meets) {
  const uint32_t next = (block_idx + 1) % block_num;
  Global from(x + block_idx * kTile), there(buffer + block_idx * kTile);
  Global other(buffer + next * kTile), to(z + block_idx * kTile);
  Vec tile;
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(there, tile);
  if (meets) SYNCALL();
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  TLOAD(tile, other);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
}

// The tile is one byte off when the first of x is negative: a fault where TADDS executes.
extern "C" __global__ AICORE void fault_in_pipe(__gm__ float* z, __gm__ float* x) {
  Global from(x + block_idx * kTile), to(z + block_idx * kTile);
  Vec tile, other;
  TASSIGN(tile, 0);
  if (x[block_idx * kTile] >= 0) TASSIGN(other, kTileBytes);
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADDS(other, tile, 1.0f);  // without an address
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, other);
}

// Swallows what an instruction throws, and goes on.
extern "C" __global__ AICORE void swallow_in_pipe(__gm__ float* x) {
  Global from(x);
  Vec tile;
  try {
    TLOAD(tile, from);
  } catch (...) {
  }
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
}

// Hands flags on and on, and executes nothing.
extern "C" __global__ AICORE void flags_for_ever(__gm__ float*) {
  for (;;) {
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  }
}
