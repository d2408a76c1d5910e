// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

namespace npu_backend {

/// Sparse tensors have no storage: they are made of strided tensors, the indices and the values.

bool IsSparse(const at::Tensor& tensor);

/// Another tensor for a part.
using PartMap = c10::function_ref<at::Tensor(const at::Tensor&)>;

/// A sparse tensor on device, npu or CPU, like tensor, made of what map gives for its parts.
at::Tensor MapSparse(const at::Tensor& tensor, c10::Device device, PartMap map);

/// Gives `to` what `from` has: sizes, whether it is coalesced, and what map gives for its parts.
void AssignSparse(const at::Tensor& to, const at::Tensor& from, PartMap map);

}  // namespace npu_backend
