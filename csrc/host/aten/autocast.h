// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "device/registration.h"

/// Policies of autocast: what happens to the arguments before the operator is called again without
/// autocast.
namespace npu_backend {

/// Floating tensors become the dtype of autocast.
NPU_BACKEND_API void AutocastToLower(const c10::OperatorHandle& op, torch::jit::Stack* stack);
/// Floating tensors become float32.
NPU_BACKEND_API void AutocastToFloat(const c10::OperatorHandle& op, torch::jit::Stack* stack);
/// Floating tensors become float32 when one of them is, else the dtype of autocast.
NPU_BACKEND_API void AutocastToWidest(const c10::OperatorHandle& op, torch::jit::Stack* stack);
/// The argument dtype becomes float32 unless it is given.
void AutocastResultToFloat(const c10::OperatorHandle& op, torch::jit::Stack* stack);
/// Raises: the operator overflows in lower precision.
void AutocastBanned(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace npu_backend
