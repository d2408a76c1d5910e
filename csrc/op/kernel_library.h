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

/// Cores of the SoC, of each kind; one, where there is no device.
struct CoreCounts {
  int cube = 1, vector = 1;
};
const CoreCounts& Cores();

/// A sentence when what ("operands") has more dimensions, once merged, than a tiling holds.
Status CheckDims(const char* where, const char* what, int dims);

/// Launches the kernel "name_dtype" for work of elements: a block per kBytesPerBlock of
/// elements, at most as many as the SoC has vector cores.
Status LaunchFor(const std::string& name, DType dtype, int64_t elements, const void* args,
                 size_t args_bytes, Launcher& launcher);

}  // namespace op
