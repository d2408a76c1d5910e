// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// True if matrix can be multiplied as it lies: its elements are contiguous along rows or columns.
bool IsFactor(const Tensor& matrix);

/// c = a b, summed in float32 (float64 for float64) and rounded once.
///   a, b  matrices of m x k and k x n for which IsFactor holds
///   c     m x n, contiguous; all of one dtype: float32, float16, bfloat16 or float64
Status MyGemm(const Tensor& a, const Tensor& b, const Tensor& c, Launcher& launcher);

}  // namespace op
