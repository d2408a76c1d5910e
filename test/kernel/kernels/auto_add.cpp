// SPDX-License-Identifier: Apache-2.0
// z = x + 1 in auto mode (to be compiled with __PTO_AUTO__): tiles live for one round of the loop,
// and get their storage by themselves; the chip's compiler sets the flags.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace {

constexpr int kTile = 256;
using Vec = Tile<TileType::Vec, float, 1, kTile>;
using Global = GlobalTensor<float, Shape<1, 1, 1, 1, kTile>, Stride<1, 1, 1, kTile, 1>>;

}  // namespace

extern "C" __global__ AICORE void auto_add(__gm__ float* x, __gm__ float* z, int32_t tiles) {
  for (int i = 0; i < tiles; ++i) {
    Global from(x + i * kTile), to(z + i * kTile);
    Vec loaded, added;
    TLOAD(loaded, from);
    TADDS(added, loaded, 1.0f);
    TSTORE(to, added);
  }
}
