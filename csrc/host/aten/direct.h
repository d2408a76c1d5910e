// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/operator_name.h>
#include <torch/library.h>

#include <optional>

namespace npu_backend {

/// For operators that are called so often that boxing their arguments is felt: the call of the CPU
/// kernel that the fallback makes, without boxes, and for element-wise ones without CPU tensors
/// over the memory. Nothing for all others.
std::optional<torch::CppFunction> DirectFor(const c10::OperatorName& op);

}  // namespace npu_backend
