// SPDX-License-Identifier: Apache-2.0
// z = max(x + y, 0); the sum is rounded once.
#include "elementwise.hpp"

namespace {

struct AddRelu {
  static constexpr bool kComputesHalf = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x, TileT& y) const {
    TADD(z, x, y);
    TRELU(z, z);
  }
};

using Tiling = ElementwiseTiling<2>;

}  // namespace

extern "C" __global__ AICORE void fused_add_relu_float(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                       Tiling tiling) {
  elementwise::Run<float>(AddRelu{}, z, {x, y}, tiling);
}

extern "C" __global__ AICORE void fused_add_relu_half(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                      Tiling tiling) {
  elementwise::Run<half>(AddRelu{}, z, {x, y}, tiling);
}

extern "C" __global__ AICORE void fused_add_relu_bfloat16(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                          Tiling tiling) {
  elementwise::Run<bfloat16_t>(AddRelu{}, z, {x, y}, tiling);
}

extern "C" __global__ AICORE void fused_add_relu_int32(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                       Tiling tiling) {
  elementwise::Run<int32_t>(AddRelu{}, z, {x, y}, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void fused_add_relu_double(GM_ADDR z, GM_ADDR x, GM_ADDR y,
                                                        Tiling tiling) {
  elementwise::Run<double>(AddRelu{}, z, {x, y}, tiling);
}
