// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace npu_host {

/// Raises unless x, the argument called operand, is strided and its elements have a place, but for
/// those of a size to come. CheckOperand does so, too: this is for operands of other dtypes.
void CheckMemory(const char* where, const char* operand, const at::Tensor& x);

}  // namespace npu_host
