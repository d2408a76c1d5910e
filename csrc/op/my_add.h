// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// z = x + y, each element rounded once.
///   x, y   the shape of z, any strides (0 where broadcast)
///   z      contiguous, any supported dtype; x and y have the same
Status MyAdd(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher);

}  // namespace op
