// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// out = max(x + y, 0) * z; half and bfloat16 are computed in float and rounded once. Operands as
/// those of MyAdd.
Status FusedAddReluMul(const Tensor& x, const Tensor& y, const Tensor& z, const Tensor& out,
                       Launcher& launcher);

}  // namespace op
