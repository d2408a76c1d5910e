// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/core.hpp"

namespace npu {

/// Bytes of a space of a core that tiles of auto mode (pto/auto_storage.hpp) have, in a list by
/// address.
struct AutoBlock {
  Core* core = nullptr;  // null: not taken yet, or that core has ended
  Space space = Space::kUb;
  uint64_t begin = 0, end = 0;  // from the start of the space; empty: as above
  uint32_t users = 1;           // tiles
  AutoBlock* next = nullptr;
};

}  // namespace npu
