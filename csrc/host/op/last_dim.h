// SPDX-License-Identifier: Apache-2.0
// Operators over one dimension whose kernels have it as the last one.
#pragma once

#include <ATen/core/Tensor.h>

namespace npu_host {

/// dim counted from the front. Raises unless x has it; what has no dimension counts as having one.
int64_t FrontDim(const char* where, const at::Tensor& x, int64_t dim);

/// A contiguous copy, by a kernel of ours. int64, or a dtype of operators.
at::Tensor ContiguousCopy(const at::Tensor& x);

/// x with dimension dim last and contiguous, and with whole all of it contiguous: x itself, a view,
/// or a copy. What has no dimension gets one.
at::Tensor WithDimLast(const at::Tensor& x, int64_t dim, bool whole);

/// The way back: x, contiguous, with its last dimension at dim and contiguous again.
at::Tensor WithLastAtDim(const at::Tensor& x, int64_t dim);

}  // namespace npu_host
