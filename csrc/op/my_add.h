// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// z = x + y, each element rounded once.
///   x, y   the shape of z, any strides (0 where broadcast)
///   z      any supported dtype, any strides, no two elements in one place; may be x itself. x and
///   y
///          have its dtype
Status MyAdd(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher);

}  // namespace op
