// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/observer.hpp"

namespace npu {

/// Who looks on at a launch that starts now: null, the one that is on, or one that passes
/// everything on to all of them.
InstructionObserver* ActiveObserver();

}  // namespace npu
