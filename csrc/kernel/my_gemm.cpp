// SPDX-License-Identifier: Apache-2.0
// npu_core: cube
// c = bias + a b. ones: 128 of them, which the bias is multiplied with; bias and ones may be null.
#include "gemm.hpp"

extern "C" __global__ AICORE void my_gemm_float(GM_ADDR c, GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                GM_ADDR ones, GemmTiling tiling) {
  gemm::Product<float>((__gm__ float*)c, (__gm__ float*)a, (__gm__ float*)b, (__gm__ float*)bias,
                       (__gm__ float*)ones, tiling)
      .Run();
}

extern "C" __global__ AICORE void my_gemm_half(GM_ADDR c, GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                               GM_ADDR ones, GemmTiling tiling) {
  gemm::Product<half>((__gm__ half*)c, (__gm__ half*)a, (__gm__ half*)b, (__gm__ half*)bias,
                      (__gm__ half*)ones, tiling)
      .Run();
}

extern "C" __global__ AICORE void my_gemm_bfloat16(GM_ADDR c, GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                   GM_ADDR ones, GemmTiling tiling) {
  gemm::Product<bfloat16_t>((__gm__ bfloat16_t*)c, (__gm__ bfloat16_t*)a, (__gm__ bfloat16_t*)b,
                            (__gm__ bfloat16_t*)bias, (__gm__ bfloat16_t*)ones, tiling)
      .Run();
}
