// SPDX-License-Identifier: Apache-2.0
// Softmax over a dimension that is not the innermost one.
#include "softmax.hpp"

extern "C" __global__ AICORE void my_softmax_columns_float(GM_ADDR z, GM_ADDR x,
                                                           RowTiling<2> tiling) {
  softmax::RunForward<float, rows::AlongColumns>(z, x, tiling);
}

extern "C" __global__ AICORE void my_softmax_columns_half(GM_ADDR z, GM_ADDR x,
                                                          RowTiling<2> tiling) {
  softmax::RunForward<half, rows::AlongColumns>(z, x, tiling);
}

extern "C" __global__ AICORE void my_softmax_columns_bfloat16(GM_ADDR z, GM_ADDR x,
                                                              RowTiling<2> tiling) {
  softmax::RunForward<bfloat16_t, rows::AlongColumns>(z, x, tiling);
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_softmax_columns_double(GM_ADDR z, GM_ADDR x,
                                                            RowTiling<2> tiling) {
  softmax::RunForward<double, rows::AlongColumns>(z, x, tiling);
}
