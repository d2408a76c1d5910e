// SPDX-License-Identifier: Apache-2.0
// Softmax over the innermost dimension.
#include "softmax.hpp"

extern "C" __global__ AICORE void my_softmax_float(GM_ADDR z, GM_ADDR x, RowTiling<2> tiling) {
  softmax::RunForward<float, rows::AlongRows>(z, x, tiling);
}

extern "C" __global__ AICORE void my_softmax_half(GM_ADDR z, GM_ADDR x, RowTiling<2> tiling) {
  softmax::RunForward<half, rows::AlongRows>(z, x, tiling);
}

extern "C" __global__ AICORE void my_softmax_bfloat16(GM_ADDR z, GM_ADDR x, RowTiling<2> tiling) {
  softmax::RunForward<bfloat16_t, rows::AlongRows>(z, x, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_softmax_double(GM_ADDR z, GM_ADDR x, RowTiling<2> tiling) {
  softmax::RunForward<double, rows::AlongRows>(z, x, tiling);
}
