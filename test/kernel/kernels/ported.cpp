// SPDX-License-Identifier: Apache-2.0
// Lines that do not run on each chip, for test_portable.py.
#include <pto/pto-inst.hpp>

using namespace pto;

template <class T>
using Row = GlobalTensor<T, Shape<1, 1, 1, 1, DYNAMIC>, Stride<1, 1, 1, 1024, 1>>;
template <class T>
using RowTile = Tile<TileType::Vec, T, 1, 1024, BLayout::RowMajor, 1, DYNAMIC>;

template <class T>
AICORE void Twice(__gm__ T* z, __gm__ T* x, int count) {
  Row<T> from(x, {count}), to(z, {count});
  RowTile<T> tile(count);
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(tile, tile, tile);  // line 20: bfloat16 on A5, double nowhere
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
}

extern "C" __global__ AICORE void ported(__gm__ float* x, __gm__ bfloat16_t* y, __gm__ double* z) {
  Twice(x, x, 64);
  Twice(y, y, 64);
  Twice(z, z, 64);
  Tile<TileType::Vec, float, 208, 256> large;
  TASSIGN(large, 0);  // line 31: 208 KiB, within UB of A5
  RowTile<float> tile(8);
  TASSIGN(tile, 0);
  TADDC(tile, tile, tile, tile);  // line 34: no chip has it
  set_intra_block(PIPE_V, 3);     // line 35: A5
  wait_intra_block(PIPE_V, 3);    // line 36: A5, whatever the other core does
}
