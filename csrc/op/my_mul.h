// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

class Scalar;

/// z = x * y, each element rounded once. Operands as those of MyAdd.
Status MyMul(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher);

/// z = x * scalar: the scalar is rounded to float (float64 for float64), the product once.
Status MyMul(const Tensor& x, const Scalar& scalar, const Tensor& z, Launcher& launcher);

}  // namespace op
