// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "device/twin.h"

namespace npu_backend {

/// A CPU tensor over the memory of an npu tensor: same sizes, strides, offset and bits for
/// conjugate and negative.
at::Tensor ShadowOf(const at::Tensor& tensor);
at::Tensor ShadowOver(const at::Tensor& tensor, StoragePtr twin);

/// Makes a CPU tensor one of device over storage, an npu storage on its memory. Reuses the
/// TensorImpl of tensor.
at::Tensor Relabel(at::Tensor tensor, StoragePtr storage, c10::Device device);

/// Gives tensor the sizes, strides, offset and bits for conjugate and negative of its shadow.
void FollowShadow(const at::Tensor& tensor, const at::Tensor& shadow);

}  // namespace npu_backend
