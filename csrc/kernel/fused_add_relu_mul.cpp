// SPDX-License-Identifier: Apache-2.0
// out = max(x + y, 0) * z. 16-bit floats are computed in float and rounded once, at the end.
#include "elementwise.hpp"

namespace {

struct AddReluMul {
  static constexpr bool kComputesHalf = false;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& out, TileT& x, TileT& y,
                         TileT& z) const {
    TADD(out, x, y);
    TRELU(out, out);
    TMUL(out, out, z);
  }
};

using Tiling = ElementwiseTiling<3>;

}  // namespace

extern "C" __global__ AICORE void fused_add_relu_mul_float(GM_ADDR out, GM_ADDR x, GM_ADDR y,
                                                           GM_ADDR z, Tiling tiling) {
  elementwise::Run<float>(AddReluMul{}, out, {x, y, z}, tiling);
}

extern "C" __global__ AICORE void fused_add_relu_mul_half(GM_ADDR out, GM_ADDR x, GM_ADDR y,
                                                          GM_ADDR z, Tiling tiling) {
  elementwise::Run<half>(AddReluMul{}, out, {x, y, z}, tiling);
}

extern "C" __global__ AICORE void fused_add_relu_mul_bfloat16(GM_ADDR out, GM_ADDR x, GM_ADDR y,
                                                              GM_ADDR z, Tiling tiling) {
  elementwise::Run<bfloat16_t>(AddReluMul{}, out, {x, y, z}, tiling);
}

extern "C" __global__ AICORE void fused_add_relu_mul_int32(GM_ADDR out, GM_ADDR x, GM_ADDR y,
                                                           GM_ADDR z, Tiling tiling) {
  elementwise::Run<int32_t>(AddReluMul{}, out, {x, y, z}, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void fused_add_relu_mul_double(GM_ADDR out, GM_ADDR x, GM_ADDR y,
                                                            GM_ADDR z, Tiling tiling) {
  elementwise::Run<double>(AddReluMul{}, out, {x, y, z}, tiling);
}
