// SPDX-License-Identifier: Apache-2.0
// A sum whose flags may be left out: loaded and added say how often each is set and waited for.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kTile = 256;
using Vec = Tile<TileType::Vec, float, 1, kTile>;
using Global = GlobalTensor<float, Shape<1, 1, 1, 1, kTile>, Stride<1, 1, 1, kTile, 1>>;

}  // namespace

extern "C" __global__ AICORE void ordered_add(__gm__ float* x, __gm__ float* y, __gm__ float* z,
                                              int32_t loaded, int32_t added) {
  const uint32_t first = block_idx * kTile;
  Global x_global(x + first), y_global(y + first), z_global(z + first);
  Vec a, b, c;
  TASSIGN(a, 0 * kTile * sizeof(float));
  TASSIGN(b, 1 * kTile * sizeof(float));
  TASSIGN(c, 2 * kTile * sizeof(float));
  TLOAD(a, x_global);
  TLOAD(b, y_global);
  for (int i = 0; i < loaded; ++i) {
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  }
  TADD(c, a, b);
  for (int i = 0; i < added; ++i) {
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  }
  TSTORE(z_global, c);
}
