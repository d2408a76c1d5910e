// SPDX-License-Identifier: Apache-2.0
// npu_core: mix
// The gradients of k and v.
#include "attention_gradient.hpp"

namespace {

template <class T>
AICORE void Run(GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v,
                GM_ADDR gradient, GM_ADDR log_sums, GM_ADDR slots,
                const AttentionBackwardTiling& tiling) {
  using attention::Operands;
  const AttentionTiling& forward = tiling.forward;
  const Operands<T> of_gradient = {(__gm__ T*)gradient, tiling.gradient};
  __gm__ char* own = (__gm__ char*)slots + get_block_idx() * AttentionGradientSlotBytes(sizeof(T));
#ifdef __DAV_CUBE__
  const Operands<T> of_q = {(__gm__ T*)q, forward.q}, of_k = {(__gm__ T*)k, forward.k},
                    of_v = {(__gm__ T*)v, forward.v};
  attention::BackwardOnCube<T, true>(of_q, of_k, of_v, of_gradient, own, forward).Run();
#else
  const attention::VectorData<T> data = {{(__gm__ T*)dk, (__gm__ T*)dv},
                                         (__gm__ float*)log_sums,
                                         (__gm__ float*)deltas,
                                         {},
                                         of_gradient};
  attention::BackwardOnVector<T, true>(data, own, forward).Run();
#endif
}

}  // namespace

extern "C" __global__ AICORE void my_flash_attention_backward_keys_float(
    GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  Run<float>(dk, dv, deltas, q, k, v, gradient, log_sums, slots, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_keys_half(
    GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  Run<half>(dk, dv, deltas, q, k, v, gradient, log_sums, slots, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_keys_bfloat16(
    GM_ADDR dk, GM_ADDR dv, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  Run<bfloat16_t>(dk, dv, deltas, q, k, v, gradient, log_sums, slots, tiling);
}
