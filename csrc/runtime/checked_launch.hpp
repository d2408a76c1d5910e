// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/launch.hpp"
#include "runtime/status.hpp"

namespace npu::runtime {

/// Runs launch in this thread for all who look on. Where it ran to its end, NPU_ERROR_HAZARD with a
/// sentence if the checker found something new, unless its session is quiet.
Status RunLaunch(const Launch& launch);

}  // namespace npu::runtime
