// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// z = max(x, 0); NaN stays, -0.0 becomes 0.0. z may be x itself. Operands as those of MyAdd.
Status MyRelu(const Tensor& x, const Tensor& z, Launcher& launcher);

/// z = result <= 0 ? 0 : gradient, for floating point dtypes.
Status MyReluBackward(const Tensor& gradient, const Tensor& result, const Tensor& z,
                      Launcher& launcher);

}  // namespace op
