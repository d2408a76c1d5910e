// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/core.hpp"

namespace npu::runtime {

/// Shape of a launch: which cores run it. Task t is core t % cores_per_block of block t /
/// cores_per_block; of a mixed block core 0 is the cube core, 1 and 2 are the vector cores.
struct LaunchShape {
  uint32_t blocks = 0;
  bool has_cube = false;
  bool has_vector = false;

  bool is_mix() const { return has_cube && has_vector; }
  uint32_t cores_per_block() const { return is_mix() ? 3 : 1; }
  uint32_t vector_cores_per_block() const { return is_mix() ? 2 : (has_vector ? 1 : 0); }
  uint32_t tasks() const { return blocks * cores_per_block(); }
  CoreType TypeOf(uint32_t task) const {
    const bool is_cube = is_mix() ? task % 3 == 0 : has_cube;
    return is_cube ? CoreType::kCube : CoreType::kVector;
  }
  /// Cores of type in the whole launch.
  uint32_t Count(CoreType type) const {
    return type == CoreType::kCube ? (has_cube ? blocks : 0) : blocks * vector_cores_per_block();
  }
  /// Cores that a SYNCALL of group waits for.
  uint32_t GroupSize(SyncGroup group) const;
};

/// Cores of type that chip has.
inline uint32_t CoresOf(const Arch& chip, CoreType type) {
  return static_cast<uint32_t>(type == CoreType::kCube ? chip.cube_cores : chip.vector_cores);
}

/// "the vector cores", and whether they are those of type.
const char* GroupName(SyncGroup group);
bool InGroup(CoreType type, SyncGroup group);

/// Faults unless core may meet those of group. ended: cores that have, by CoreType.
void CheckGroup(const Core& core, SyncGroup group, const LaunchShape& shape,
                const uint32_t (&ended)[2]);

}  // namespace npu::runtime
