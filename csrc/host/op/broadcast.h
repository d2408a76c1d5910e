// SPDX-License-Identifier: Apache-2.0
// What element-wise operators in PyTorch share: operands of one dtype and device that broadcast.
#pragma once

#include <ATen/core/Tensor.h>

#include "op/operand.h"

namespace npu_host {

/// A new contiguous tensor for the result of where on operands x, y and z, which broadcast. Raises
/// unless they are of one dtype and device.
at::Tensor BroadcastResult(const char* where, at::TensorList operands);

/// The kernel for the key Meta: the same with symbolic sizes.
at::Tensor BroadcastMeta(const char* where, at::TensorList operands);

/// For an operator that computes in place. Raises unless operands are of one dtype and device,
/// broadcast to the first of them, and that one has no two elements in one place.
void CheckInPlace(const char* where, at::TensorList operands);

/// operand, or a copy when it shares memory with self without lying as self does.
at::Tensor ApartFrom(const at::Tensor& self, const at::Tensor& operand);

}  // namespace npu_host
