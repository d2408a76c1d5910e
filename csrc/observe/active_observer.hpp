// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/observer.hpp"

namespace npu {

/// Who looks on at a launch that starts now: null, the one that is on, or one that passes
/// everything on to all of them. The check for hazards takes part if the launch is in_order of its
/// text alone, from which it derives which order the flags make.
InstructionObserver* ActiveObserver(bool in_order);

}  // namespace npu
