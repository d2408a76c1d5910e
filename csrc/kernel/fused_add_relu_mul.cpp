// SPDX-License-Identifier: Apache-2.0
// out = max(x + y, 0) * z. 16-bit floats are computed in float and rounded once, at the end.
#include "elementwise.hpp"

namespace {

struct AddReluMul {
  static constexpr bool kComputesHalf = false;
  static constexpr bool kTakesScratch = false;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& out, TileT& x, TileT& y,
                         TileT& z) const {
    TADD(out, x, y);
    TRELU(out, out);
    TMUL(out, out, z);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(fused_add_relu_mul_float, float, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_half, half, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_bfloat16, bfloat16_t, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_int32, int32_t, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_double, double, AddReluMul, 3)
