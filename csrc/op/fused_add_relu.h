// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// z = max(x + y, 0); the sum is rounded once, NaN stays. Operands as those of MyAdd.
Status FusedAddRelu(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher);

}  // namespace op
