// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>

#include "npu/core.hpp"

namespace npu {

/// Whether the instructions of core are in the order of their text, as those of a kernel of auto
/// mode are, for which the chip's compiler sets the flags: it has tiles of auto mode.
inline bool KeepsTextOrder(const Core& core) {
  return std::any_of(std::begin(core.auto_blocks), std::end(core.auto_blocks),
                     [](const AutoBlock* block) { return block != nullptr; });
}

}  // namespace npu
