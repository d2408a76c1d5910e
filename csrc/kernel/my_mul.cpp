// SPDX-License-Identifier: Apache-2.0
// z = x * y and z = x * scalar, rounded once. A scalar has the type that is computed in, which is
// float for 16-bit floats.
#include "elementwise.hpp"

namespace {

struct Mul {
  static constexpr bool kComputesHalf = true;
  static constexpr bool kTakesScratch = false;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x, TileT& y) const {
    TMUL(z, x, y);
  }
};

template <class T>
struct MulScalar {
  static constexpr bool kComputesHalf = false;
  static constexpr bool kTakesScratch = false;
  T scalar;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x) const {
    TMULS(z, x, scalar);
  }
};

using ScalarTiling = ElementwiseTiling<1>;

}  // namespace

ELEMENTWISE_KERNEL(my_mul_float, float, Mul, 2)
ELEMENTWISE_KERNEL(my_mul_half, half, Mul, 2)
ELEMENTWISE_KERNEL(my_mul_bfloat16, bfloat16_t, Mul, 2)
ELEMENTWISE_KERNEL(my_mul_int32, int32_t, Mul, 2)
ELEMENTWISE_KERNEL(my_mul_double, double, Mul, 2)
extern "C" __global__ AICORE void my_mul_scalar_float(GM_ADDR z, GM_ADDR x, ScalarTiling tiling,
                                                      float scalar) {
  elementwise::Run<float>(MulScalar<float>{scalar}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_mul_scalar_half(GM_ADDR z, GM_ADDR x, ScalarTiling tiling,
                                                     float scalar) {
  elementwise::Run<half>(MulScalar<float>{scalar}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_mul_scalar_bfloat16(GM_ADDR z, GM_ADDR x, ScalarTiling tiling,
                                                         float scalar) {
  elementwise::Run<bfloat16_t>(MulScalar<float>{scalar}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_mul_scalar_int32(GM_ADDR z, GM_ADDR x, ScalarTiling tiling,
                                                      int32_t scalar) {
  elementwise::Run<int32_t>(MulScalar<int32_t>{scalar}, z, {x}, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_mul_scalar_double(GM_ADDR z, GM_ADDR x, ScalarTiling tiling,
                                                       double scalar) {
  elementwise::Run<double>(MulScalar<double>{scalar}, z, {x}, tiling);
}
