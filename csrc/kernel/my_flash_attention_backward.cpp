// SPDX-License-Identifier: Apache-2.0
// npu_core: mix
// The gradient of q, and deltas: each row's sum of result * gradient.
#include "attention_gradient.hpp"

using attention::RunBackward;

extern "C" __global__ AICORE void my_flash_attention_backward_float(
    GM_ADDR dq, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR result, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  RunBackward<float, false>({{dq, nullptr}, deltas, q, k, v, result, gradient, log_sums, slots},
                            tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_half(GM_ADDR dq, GM_ADDR deltas,
                                                                   GM_ADDR q, GM_ADDR k, GM_ADDR v,
                                                                   GM_ADDR result, GM_ADDR gradient,
                                                                   GM_ADDR log_sums, GM_ADDR slots,
                                                                   AttentionBackwardTiling tiling) {
  RunBackward<half, false>({{dq, nullptr}, deltas, q, k, v, result, gradient, log_sums, slots},
                           tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_bfloat16(
    GM_ADDR dq, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR result, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  RunBackward<bfloat16_t, false>(
      {{dq, nullptr}, deltas, q, k, v, result, gradient, log_sums, slots}, tiling);
}
