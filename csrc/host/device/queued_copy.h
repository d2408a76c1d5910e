// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace npu_backend {

/// Puts the copy of source into self on the current stream of the npu tensor among them, behind the
/// work that is pending there, and returns at once. False, and nothing is done, when nothing is
/// pending, or the copy is more than moving bytes between npu and pinned memory.
bool QueueCopy(const at::Tensor& self, const at::Tensor& source);

}  // namespace npu_backend
