// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "npu/arch.hpp"
#include "runtime/npu_runtime.h"

namespace npu::runtime {

/// Settings of the process, read from the environment once.
struct Environment {
  int device_count = 2;                        // NPU_DEVICE_COUNT
  const Arch* arch = nullptr;                  // NPU_SOC
  bool check_limits = true;                    // NPU_CHECK is not off
  bool check_hazards = false;                  // NPU_CHECK is hazards
  uint32_t hazard_kinds = NPU_HAZARD_DEFAULT;  // NPU_HAZARD_KINDS
  std::string hazard_report;                   // NPU_HAZARD_REPORT: a folder; empty: none
  int spin_timeout_ms = 3000;                  // NPU_SPIN_TIMEOUT_MS
  int peer_timeout_ms = 60000;                 // NPU_PEER_TIMEOUT_MS
  bool launch_blocking = false;                // ASCEND_LAUNCH_BLOCKING
  std::string error;  // sentence about the first variable that holds a wrong value
};

const Environment& GetEnvironment();

}  // namespace npu::runtime
