// SPDX-License-Identifier: Apache-2.0
// z = (x - mean) / sqrt(variance + eps) * weight + bias for each row of x.
#include "norm.hpp"

extern "C" __global__ AICORE void my_layer_norm_float(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                      GM_ADDR bias, RowTiling<2> tiling,
                                                      double eps) {
  norm::RunForward<float>(z, x, weight, bias, tiling, {eps, 1});
}

extern "C" __global__ AICORE void my_layer_norm_half(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                     GM_ADDR bias, RowTiling<2> tiling,
                                                     double eps) {
  norm::RunForward<half>(z, x, weight, bias, tiling, {eps, 1});
}

extern "C" __global__ AICORE void my_layer_norm_bfloat16(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                         GM_ADDR bias, RowTiling<2> tiling,
                                                         double eps) {
  norm::RunForward<bfloat16_t>(z, x, weight, bias, tiling, {eps, 1});
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_layer_norm_double(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                       GM_ADDR bias, RowTiling<2> tiling,
                                                       double eps) {
  norm::RunForward<double>(z, x, weight, bias, tiling, {eps, 1});
}
