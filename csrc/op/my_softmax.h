// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// z = exp(x - m) / sum of exp(x - m) over dimension dim, m the largest x there. Computed in
/// float32 (float64 for float64), rounded once. As exp does, -inf gives 0, NaN and +inf give NaN.
///   x    any strides, float32, float16, bfloat16 or float64
///   z    contiguous, the shape and dtype of x
///   dim  from 0 to x.dims - 1; 0 where x has no dimension
Status MySoftmax(const Tensor& x, int dim, const Tensor& z, Launcher& launcher);

/// z = result * (gradient - sum of gradient * result over dim): the gradient of x.
///   gradient, result  as x
Status MySoftmaxBackward(const Tensor& gradient, const Tensor& result, int dim, const Tensor& z,
                         Launcher& launcher);

}  // namespace op
