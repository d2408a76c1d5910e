// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_shape.hpp"

#include <string>

#include "npu/error.hpp"

namespace npu::runtime {
namespace {

constexpr uint32_t kSyncGroups = 3;

}  // namespace

const char* GroupName(SyncGroup group) {
  constexpr const char* kNames[] = {"the vector cores", "the cube cores", "all cores"};
  return kNames[static_cast<int>(group)];
}

bool InGroup(CoreType type, SyncGroup group) {
  if (group == SyncGroup::kAllCores) return true;
  return (group == SyncGroup::kVectorCores) == (type == CoreType::kVector);
}

uint32_t LaunchShape::GroupSize(SyncGroup group) const {
  if (group == SyncGroup::kAllCores) return tasks();
  return Count(group == SyncGroup::kVectorCores ? CoreType::kVector : CoreType::kCube);
}

void CheckGroup(const Core& core, SyncGroup group, const LaunchShape& shape,
                const uint32_t (&ended)[2]) {
  const auto index = static_cast<unsigned>(group);
  if (index >= kSyncGroups) RaiseFault("SYNCALL", "a group from 0 to 2", std::to_string(index));
  const std::string name = GroupName(group);
  if (group == SyncGroup::kAllCores && !shape.is_mix()) {
    RaiseFault("SYNCALL of " + name, "a kernel with cube and vector cores",
               shape.has_cube ? "one without vector cores" : "one without cube cores");
  }
  if (!InGroup(core.type, group)) {
    RaiseFault("SYNCALL of " + name, "a core of that kind",
               core.type == CoreType::kCube ? "a cube core" : "a vector core");
  }
  uint32_t gone = 0;
  for (const CoreType type : {CoreType::kVector, CoreType::kCube}) {
    if (!InGroup(type, group)) continue;
    gone += ended[static_cast<int>(type)];
    const uint32_t limit = CoresOf(*core.arch, type);
    if (shape.Count(type) <= limit) continue;
    RaiseFault("SYNCALL",
               "at most " + std::to_string(limit) +
                   (type == CoreType::kCube ? " cube cores" : " vector cores") + " (as many as " +
                   core.arch->soc + " has)",
               std::to_string(shape.Count(type)));
  }
  if (gone != 0) {
    RaiseFault("SYNCALL of " + name,
               "all " + std::to_string(shape.GroupSize(group)) + " cores to arrive",
               std::to_string(gone) + " that have ended");
  }
}

}  // namespace npu::runtime
