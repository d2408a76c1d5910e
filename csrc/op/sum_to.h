// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// z = sum of x over the dimensions in which z has extent 1 and x has not. Sums are kept in float32
/// (float64 for float64) and rounded once.
///   x  any strides, float32, float16, bfloat16 or float64
///   z  contiguous, as many dimensions as x, the same dtype
Status SumTo(const Tensor& x, const Tensor& z, Launcher& launcher);

}  // namespace op
