// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/core.hpp"

// Kernels that host code calls as plain functions, as programs for simulators do. Each thread is a
// core then, with the memory of all cores of a block, from its first instruction to its end.
namespace npu {

/// From here on instructions may be called from host code, in every thread.
__attribute__((visibility("default"))) void EnableHostCores();

/// The core that host code of this thread runs on.
__attribute__((visibility("default"))) Core& HostCore();

/// Gives that core, and those of threads that begin later, the limits of arch.
__attribute__((visibility("default"))) void SetHostArch(const Arch& arch);

/// Memory of bytes that all threads of host code share under key, zero at first and after the end
/// of a kernel.
__attribute__((visibility("default"))) void* SharedByHostCode(uint64_t key, size_t bytes);

/// Ends what runs on it as a kernel ends: flags, registers and what threads share are cleared,
/// other memory stays.
__attribute__((visibility("default"))) void EndHostKernel();

}  // namespace npu
