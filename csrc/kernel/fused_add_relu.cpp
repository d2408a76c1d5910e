// SPDX-License-Identifier: Apache-2.0
// z = max(x + y, 0); the sum is rounded once.
#include "elementwise.hpp"

namespace {

struct AddRelu {
  static constexpr bool kComputesHalf = true;
  static constexpr bool kTakesScratch = false;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x, TileT& y) const {
    TADD(z, x, y);
    TRELU(z, z);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(fused_add_relu_float, float, AddRelu, 2)
ELEMENTWISE_KERNEL(fused_add_relu_half, half, AddRelu, 2)
ELEMENTWISE_KERNEL(fused_add_relu_bfloat16, bfloat16_t, AddRelu, 2)
ELEMENTWISE_KERNEL(fused_add_relu_int32, int32_t, AddRelu, 2)
ELEMENTWISE_KERNEL(fused_add_relu_double, double, AddRelu, 2)
