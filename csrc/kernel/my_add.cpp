// SPDX-License-Identifier: Apache-2.0
// z = x + y, rounded once: the sum of two bfloat16 is exact enough in float for that.
#include "elementwise.hpp"

namespace {

struct Add {
  static constexpr bool kComputesHalf = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x, TileT& y) const {
    TADD(z, x, y);
  }
};

using Tiling = ElementwiseTiling<2>;

}  // namespace

extern "C" __global__ AICORE void my_add_float(GM_ADDR z, GM_ADDR x, GM_ADDR y, Tiling tiling) {
  elementwise::Run<float>(Add{}, z, {x, y}, tiling);
}

extern "C" __global__ AICORE void my_add_half(GM_ADDR z, GM_ADDR x, GM_ADDR y, Tiling tiling) {
  elementwise::Run<half>(Add{}, z, {x, y}, tiling);
}

extern "C" __global__ AICORE void my_add_bfloat16(GM_ADDR z, GM_ADDR x, GM_ADDR y, Tiling tiling) {
  elementwise::Run<bfloat16_t>(Add{}, z, {x, y}, tiling);
}

extern "C" __global__ AICORE void my_add_int32(GM_ADDR z, GM_ADDR x, GM_ADDR y, Tiling tiling) {
  elementwise::Run<int32_t>(Add{}, z, {x, y}, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_add_double(GM_ADDR z, GM_ADDR x, GM_ADDR y, Tiling tiling) {
  elementwise::Run<double>(Add{}, z, {x, y}, tiling);
}
