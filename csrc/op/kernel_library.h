// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "op/tensor.h"

namespace op {

/// The kernel called name, from the kernel library of the best instruction set level that this
/// machine has. The environment variable NPU_ISA_LEVEL asks for a level ("x86-64-v2"). Null, with a
/// sentence in error, when there is none.
npuKernel_t FindKernel(const std::string& name, std::string* error);

/// Blocks for work of elements of dtype: one per tile buffer, at most the vector cores of the SoC.
uint32_t BlocksFor(int64_t elements, DType dtype);

}  // namespace op
