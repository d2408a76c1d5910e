// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernel/tiling/unfold.h"
#include "op/tensor.h"

namespace op {

/// The bits of 1 in dtype, for UnfoldTiling::fill.
int64_t BitsOfOne(DType dtype);

/// dst = what tiling says of src. src may be null when nothing of it is seen.
Status Unfold(DType dtype, void* dst, const void* src, UnfoldTiling tiling, Launcher& launcher);

/// to = from, where to is contiguous. Tensors of at most four dimensions and of one shape.
Status Pack(const Tensor& from, const Tensor& to, Launcher& launcher);

}  // namespace op
