// SPDX-License-Identifier: Apache-2.0
// npu_core: mix
// The gradients of k and v.
#include "attention_gradient.hpp"

using attention::RunBackward;

extern "C" __global__ AICORE void my_flash_attention_backward_keys_float(
    GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  RunBackward<float, true>({{dk, dv}, deltas, q, k, v, nullptr, gradient, log_sums, slots}, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_keys_half(
    GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  RunBackward<half, true>({{dk, dv}, deltas, q, k, v, nullptr, gradient, log_sums, slots}, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_keys_bfloat16(
    GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  RunBackward<bfloat16_t, true>({{dk, dv}, deltas, q, k, v, nullptr, gradient, log_sums, slots},
                                tiling);
}
