// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace npu_backend {

/// Whether op, with its overload, is one of those that Modular is for.
bool IsModular(const c10::OperatorName& op);

/// Sums, differences and products: where the operands are uint16, uint32 or uint64, for which
/// PyTorch has no CPU kernels, through the signed integers of the same width, whose results have
/// the same bits. Other dtypes as ever.
void Modular(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace npu_backend
