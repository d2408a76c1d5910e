// SPDX-License-Identifier: Apache-2.0
// z = x / sqrt(mean of x^2 + eps) * weight for each row of x.
#include "norm.hpp"

extern "C" __global__ AICORE void my_rms_norm_float(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                    RowTiling<2> tiling, double eps) {
  norm::RunForward<float>(z, x, weight, nullptr, tiling, {eps, 0});
}

extern "C" __global__ AICORE void my_rms_norm_half(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                   RowTiling<2> tiling, double eps) {
  norm::RunForward<half>(z, x, weight, nullptr, tiling, {eps, 0});
}

extern "C" __global__ AICORE void my_rms_norm_bfloat16(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                       RowTiling<2> tiling, double eps) {
  norm::RunForward<bfloat16_t>(z, x, weight, nullptr, tiling, {eps, 0});
}

/// Emulator only: no vector core computes in float64.
extern "C" __global__ AICORE void my_rms_norm_double(GM_ADDR z, GM_ADDR x, GM_ADDR weight,
                                                     RowTiling<2> tiling, double eps) {
  norm::RunForward<double>(z, x, weight, nullptr, tiling, {eps, 0});
}
