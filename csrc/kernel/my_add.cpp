// SPDX-License-Identifier: Apache-2.0
// z = x + y, rounded once: the sum of two bfloat16 is exact enough in float for that.
#include "elementwise.hpp"

namespace {

struct Add {
  static constexpr bool kComputesHalf = true;
  static constexpr bool kTakesScratch = false;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x, TileT& y) const {
    TADD(z, x, y);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(my_add_float, float, Add, 2)
ELEMENTWISE_KERNEL(my_add_half, half, Add, 2)
ELEMENTWISE_KERNEL(my_add_bfloat16, bfloat16_t, Add, 2)
ELEMENTWISE_KERNEL(my_add_int32, int32_t, Add, 2)
ELEMENTWISE_KERNEL(my_add_double, double, Add, 2)
