// SPDX-License-Identifier: Apache-2.0
// z = max(x, 0), and the way back from it. NaN stays NaN.
#include "elementwise.hpp"

namespace {

struct Relu {
  static constexpr bool kComputesHalf = true;
  static constexpr bool kTakesScratch = false;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x) const {
    TRELU(z, x);
  }
};

/// z = result <= 0 ? 0 : gradient
struct ReluBackward {
  static constexpr bool kComputesHalf = true;
  static constexpr bool kTakesScratch = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch& scratch, TileT& z, TileT& gradient,
                         TileT& result) const {
    auto blocked = scratch.Mask(0, result);
    auto zero = scratch.Tile(1, z);
    TCMPS(blocked, result, typename TileT::DType(0), pto::CmpMode::LE);
    TEXPANDS(zero, typename TileT::DType(0));
    TSEL(z, blocked, zero, gradient, zero);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(my_relu_float, float, Relu, 1)
ELEMENTWISE_KERNEL(my_relu_half, half, Relu, 1)
ELEMENTWISE_KERNEL(my_relu_bfloat16, bfloat16_t, Relu, 1)
ELEMENTWISE_KERNEL(my_relu_int32, int32_t, Relu, 1)
ELEMENTWISE_KERNEL(my_relu_double, double, Relu, 1)
ELEMENTWISE_KERNEL(my_relu_backward_float, float, ReluBackward, 2)
ELEMENTWISE_KERNEL(my_relu_backward_half, half, ReluBackward, 2)
ELEMENTWISE_KERNEL(my_relu_backward_bfloat16, bfloat16_t, ReluBackward, 2)
ELEMENTWISE_KERNEL(my_relu_backward_double, double, ReluBackward, 2)
