// SPDX-License-Identifier: Apache-2.0
// z = max(x, 0), and the way back from it. NaN stays NaN.
#include "elementwise.hpp"

namespace {

struct Relu {
  static constexpr bool kComputesHalf = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch&, TileT& z, TileT& x) const {
    TRELU(z, x);
  }
};

/// z = result <= 0 ? 0 : gradient
struct ReluBackward {
  static constexpr bool kComputesHalf = true;

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

using Tiling = ElementwiseTiling<1>;
using BackwardTiling = ElementwiseTiling<2>;

}  // namespace

extern "C" __global__ AICORE void my_relu_float(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<float>(Relu{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_relu_half(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<half>(Relu{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_relu_bfloat16(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<bfloat16_t>(Relu{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_relu_int32(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<int32_t>(Relu{}, z, {x}, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_relu_double(GM_ADDR z, GM_ADDR x, Tiling tiling) {
  elementwise::Run<double>(Relu{}, z, {x}, tiling);
}

extern "C" __global__ AICORE void my_relu_backward_float(GM_ADDR z, GM_ADDR gradient,
                                                         GM_ADDR result, BackwardTiling tiling) {
  elementwise::Run<float>(ReluBackward{}, z, {gradient, result}, tiling);
}

extern "C" __global__ AICORE void my_relu_backward_half(GM_ADDR z, GM_ADDR gradient, GM_ADDR result,
                                                        BackwardTiling tiling) {
  elementwise::Run<half>(ReluBackward{}, z, {gradient, result}, tiling);
}

extern "C" __global__ AICORE void my_relu_backward_bfloat16(GM_ADDR z, GM_ADDR gradient,
                                                            GM_ADDR result, BackwardTiling tiling) {
  elementwise::Run<bfloat16_t>(ReluBackward{}, z, {gradient, result}, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_relu_backward_double(GM_ADDR z, GM_ADDR gradient,
                                                          GM_ADDR result, BackwardTiling tiling) {
  elementwise::Run<double>(ReluBackward{}, z, {gradient, result}, tiling);
}
