// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace npu::runtime {

/// Return addresses of the calls that the calling thread is in, from the innermost one: as many as
/// lie between a fault and its kernel.
std::vector<const void*> CallsOfThisThread();

}  // namespace npu::runtime
