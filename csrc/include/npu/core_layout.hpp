// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/core.hpp"

namespace npu {

/// A number for what kernels and the runtime share in memory: a launch refuses a kernel that was
/// compiled with another one. kRevision counts changes of meaning that no size shows.
constexpr uint64_t CoreLayout() {
  constexpr uint64_t kRevision = 7;
  const uint64_t numbers[] = {kRevision,
                              sizeof(Core),
                              offsetof(Core, instruction),
                              offsetof(Core, flags),
                              offsetof(Core, memories),
                              offsetof(Core, unknown_transfers),
                              sizeof(Arch),
                              sizeof(Access),
                              sizeof(Instruction),
                              kPipes,
                              kEventIds,
                              kOnChipSpaces};
  uint64_t layout = 0xcbf29ce484222325;  // FNV-1a
  for (const uint64_t number : numbers) layout = (layout ^ number) * 0x100000001b3;
  return layout;
}
inline constexpr uint64_t kCoreLayout = CoreLayout();

}  // namespace npu
