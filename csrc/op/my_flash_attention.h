// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernel/tiling/attention.h"
#include "op/tensor.h"

namespace op {

/// How scores become weights: scale times q k^T, of causal attention for the keys up to the row's
/// own number alone.
struct AttentionRule {
  bool causal;
  float scale;
};

/// Matrices of rows for each batch and head: (batch, heads, rows, width), contiguous in width, rows
/// at least width elements apart if there are several. All tensors of a call have one dtype:
/// float32, float16 or bfloat16.
struct AttentionInputs {
  Tensor q, k, v;
};

/// Bytes of global memory for tiles between cores: of z, and of the way back.
int64_t AttentionBytes(const AttentionInputs& inputs);
int64_t AttentionBackwardBytes(const AttentionInputs& inputs);

/// True if the matrices of x can be taken as they lie.
bool IsAttentionOperand(const Tensor& x);

/// z = softmax(scale q k^T) v, summed in float32, weights rounded to the dtype before they are
/// multiplied; zeros where there are no keys.
///   z         contiguous, the shape of q
///   log_sums  a float32 for each row: the logarithm of its sum of exponentials
///   slots     AttentionBytes bytes
Status MyFlashAttention(const AttentionInputs& inputs, AttentionRule rule, void* z, void* log_sums,
                        void* slots, Launcher& launcher);

/// What the way back takes besides: the result and its gradient, and log_sums of the way there.
struct AttentionGradients {
  Tensor result, gradient;
  const void* log_sums;
  void* dq;  // gradients of q, k and v: contiguous
  void* dk;
  void* dv;
  void* deltas;  // room for a float32 for each row
};

/// The gradients of q, k and v, summed in float32 in the order of rows.
///   slots  AttentionBackwardBytes bytes
Status MyFlashAttentionBackward(const AttentionInputs& inputs, AttentionRule rule,
                                const AttentionGradients& gradients, void* slots,
                                Launcher& launcher);

}  // namespace op
