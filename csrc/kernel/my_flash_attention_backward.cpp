// SPDX-License-Identifier: Apache-2.0
// npu_core: mix
// The gradient of q, and deltas: each row's sum of result * gradient.
#include "attention_gradient.hpp"

namespace {

template <class T>
AICORE void Run(GM_ADDR dq, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR result,
                GM_ADDR gradient, GM_ADDR log_sums, GM_ADDR slots,
                const AttentionBackwardTiling& tiling) {
  using attention::Operands;
  const AttentionTiling& forward = tiling.forward;
  const Operands<T> of_gradient = {(__gm__ T*)gradient, tiling.gradient};
  __gm__ char* own = (__gm__ char*)slots + get_block_idx() * AttentionGradientSlotBytes(sizeof(T));
#ifdef __DAV_CUBE__
  const Operands<T> of_q = {(__gm__ T*)q, forward.q}, of_k = {(__gm__ T*)k, forward.k},
                    of_v = {(__gm__ T*)v, forward.v};
  attention::BackwardOnCube<T, false>(of_q, of_k, of_v, of_gradient, own, forward).Run();
#else
  const attention::VectorData<T> data = {{(__gm__ T*)dq, nullptr},
                                         (__gm__ float*)log_sums,
                                         (__gm__ float*)deltas,
                                         {(__gm__ T*)result, tiling.result},
                                         of_gradient};
  attention::BackwardOnVector<T, false>(data, own, forward).Run();
#endif
}

}  // namespace

extern "C" __global__ AICORE void my_flash_attention_backward_float(
    GM_ADDR dq, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR result, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  Run<float>(dq, deltas, q, k, v, result, gradient, log_sums, slots, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_half(GM_ADDR dq, GM_ADDR deltas,
                                                                   GM_ADDR q, GM_ADDR k, GM_ADDR v,
                                                                   GM_ADDR result, GM_ADDR gradient,
                                                                   GM_ADDR log_sums, GM_ADDR slots,
                                                                   AttentionBackwardTiling tiling) {
  Run<half>(dq, deltas, q, k, v, result, gradient, log_sums, slots, tiling);
}

extern "C" __global__ AICORE void my_flash_attention_backward_bfloat16(
    GM_ADDR dq, GM_ADDR deltas, GM_ADDR q, GM_ADDR k, GM_ADDR v, GM_ADDR result, GM_ADDR gradient,
    GM_ADDR log_sums, GM_ADDR slots, AttentionBackwardTiling tiling) {
  Run<bfloat16_t>(dq, deltas, q, k, v, result, gradient, log_sums, slots, tiling);
}
