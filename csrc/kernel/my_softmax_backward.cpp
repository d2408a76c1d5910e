// SPDX-License-Identifier: Apache-2.0
// The way back from a softmax over the innermost dimension.
#include "softmax.hpp"

extern "C" __global__ AICORE void my_softmax_backward_float(GM_ADDR z, GM_ADDR gradient,
                                                            GM_ADDR result, RowTiling<3> tiling) {
  softmax::RunBackward<float, rows::AlongRows>(z, gradient, result, tiling);
}

extern "C" __global__ AICORE void my_softmax_backward_half(GM_ADDR z, GM_ADDR gradient,
                                                           GM_ADDR result, RowTiling<3> tiling) {
  softmax::RunBackward<half, rows::AlongRows>(z, gradient, result, tiling);
}

extern "C" __global__ AICORE void my_softmax_backward_bfloat16(GM_ADDR z, GM_ADDR gradient,
                                                               GM_ADDR result,
                                                               RowTiling<3> tiling) {
  softmax::RunBackward<bfloat16_t, rows::AlongRows>(z, gradient, result, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_softmax_backward_double(GM_ADDR z, GM_ADDR gradient,
                                                             GM_ADDR result, RowTiling<3> tiling) {
  softmax::RunBackward<double, rows::AlongRows>(z, gradient, result, tiling);
}
