// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "observe/hazard_finding.hpp"

namespace npu {

/// The code to add, "set_flag(...); wait_flag(...);", or, where no line of code alone mends it,
/// what to change.
std::string HazardMend(const Hazard& hazard);

}  // namespace npu
