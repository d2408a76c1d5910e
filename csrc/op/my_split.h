// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// part = x, where x is a piece of a tensor that is split, or part a piece of one that is put
/// together. Same shape and dtype, any strides.
Status MySplit(const Tensor& x, const Tensor& part, Launcher& launcher);

}  // namespace op
