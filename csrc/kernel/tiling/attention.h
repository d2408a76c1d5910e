// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels of attention. Plain data, passed by value.
#pragma once

#include <cstdint>

/// Most elements of a row of q, k or v.
constexpr int kAttentionWidth = 128;

/// Rows of q whose results a block computes at a time, and rows of k and v that it takes at a time.
constexpr int kAttentionRows = 128;
constexpr int kAttentionKeys = 128;

/// Rows of a gradient that a block computes at a time; it takes kAttentionKeys rows of what it sums
/// over.
constexpr int kAttentionGradientRows = 64;

/// Matrices of one operand, rows of contiguous elements. Distances are in elements.
struct AttentionMatrix {
  int64_t batch, head, row;
};

/// result = softmax(scale q k^T) v for each batch and head, of rows x width and keys x width
/// elements. causal: a row takes the keys up to its own number alone.
struct AttentionTiling {
  int64_t batch, heads;
  int64_t rows, keys, width;
  int64_t causal;
  float scale;
  AttentionMatrix q, k, v;
};

/// The same with what the way back takes: the result, its gradient, contiguous statistics of rows.
struct AttentionBackwardTiling {
  AttentionTiling forward;
  AttentionMatrix result, gradient;
};

/// Bytes that a block needs for tiles on their way from core to core, with elements of some bytes.
constexpr int64_t AttentionSlotBytes(int64_t element) {
  constexpr int64_t kSlots = 2;
  return kSlots *
         (kAttentionRows * kAttentionKeys * (4 + element) + kAttentionRows * kAttentionWidth * 4);
}
constexpr int64_t AttentionGradientSlotBytes(int64_t element) {
  constexpr int64_t kSlots = 4;
  return kSlots * kAttentionGradientRows * kAttentionKeys * (4 + element);
}
