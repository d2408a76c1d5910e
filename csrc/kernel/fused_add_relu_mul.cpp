// SPDX-License-Identifier: Apache-2.0
// out = max(x + y, 0) * z. 16-bit floats are computed in float and rounded once, at the end.
#include "elementwise.hpp"

namespace {

using namespace pto;

struct AddReluMul {
  static constexpr bool kComputesHalf = false;
  static constexpr bool kTakesScratch = false;
  static constexpr bool kTakesHalf = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& out, TileT& x, TileT& y,
                         TileT& z) const {
    TADD(out, x, y);
    TRELU(out, out);
    TMUL(out, out, z);
  }

  /// TAXPY widens its second operand itself: an instruction less.
  template <class Wide, class TileT>
  AICORE void OfHalf(Wide (&wide)[3], TileT (&x)[3]) const {
    TCVT(wide[0], x[0], RoundMode::CAST_NONE);
    TAXPY(wide[0], x[1], half(1));
    TRELU(wide[0], wide[0]);
    TCVT(wide[1], x[2], RoundMode::CAST_NONE);
    TMUL(wide[0], wide[0], wide[1]);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(fused_add_relu_mul_float, float, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_half, half, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_bfloat16, bfloat16_t, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_int32, int32_t, AddReluMul, 3)
ELEMENTWISE_KERNEL(fused_add_relu_mul_double, double, AddReluMul, 3)
