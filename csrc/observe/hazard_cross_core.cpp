// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_cross_core.hpp"

namespace npu {
namespace {

bool IsMix(const Core& core) { return core.sub_block_num > 1; }

/// Tasks of the kind of core.
std::vector<HazardTask> TasksLike(const Core& core) {
  std::vector<HazardTask> tasks;
  for (uint32_t block = 0; block < core.block_num; ++block) {
    if (!IsMix(core)) {
      tasks.push_back(block);
    } else if (core.type == CoreType::kCube) {
      tasks.push_back(3 * block);
    } else {
      tasks.push_back(3 * block + 1);
      tasks.push_back(3 * block + 2);
    }
  }
  return tasks;
}

}  // namespace

void HazardCrossCore::SetFlag(const Core& core, HazardTask task, FlagScope scope, int id,
                              const KnownCores& done) {
  if (scope == FlagScope::kAllBlocks) return SetAllBlocks(core, task, id, done);
  if (scope == FlagScope::kIntraBlock) return SetIntraBlock(core, task, id, done);
  if (core.type == CoreType::kVector) return SetVectorPair(core, task, scope, id, done);
  Push(For(task + 1, id), done);
  Push(For(task + 2, id), done);
}

void HazardCrossCore::SetIntraBlock(const Core& core, HazardTask task, int id,
                                    const KnownCores& done) {
  if (core.type == CoreType::kVector) {
    const int of_core = static_cast<int>(core.sub_block_id) * 16;
    return Push(For(task - 1 - core.sub_block_id, id + of_core), done);
  }
  const int number = id - kIntraBlockFlag;
  const HazardTask to = task + 1 + static_cast<uint32_t>(number / 16);
  Push(For(to, kIntraBlockFlag + number % 16), done);
}

void HazardCrossCore::SetAllBlocks(const Core& core, HazardTask task, int id,
                                   const KnownCores& done) {
  Push(Of(task, FlagScope::kAllBlocks, id), done);
  const std::vector<HazardTask> tasks = TasksLike(core);
  for (const HazardTask each : tasks) {
    if (flags_.count(Of(each, FlagScope::kAllBlocks, id)) == 0) return;
  }
  KnownCores all;
  for (const HazardTask each : tasks) all = Join(all, Pop(Of(each, FlagScope::kAllBlocks, id)));
  for (const HazardTask each : tasks) Push(For(each, id), all);
}

void HazardCrossCore::SetVectorPair(const Core& core, HazardTask task, FlagScope scope, int id,
                                    const KnownCores& done) {
  const uint32_t count = IsMix(core) ? 2 : 1;
  const HazardTask first = task - core.sub_block_id;
  Push(Of(task, scope, id), done);
  for (uint32_t i = 0; i < count; ++i) {
    if (flags_.count(Of(first + i, scope, id)) == 0) return;
  }
  KnownCores all;
  for (uint32_t i = 0; i < count; ++i) all = Join(all, Pop(Of(first + i, scope, id)));
  if (scope == FlagScope::kBlockGroup) return Push(For(first - 1, id), all);
  for (uint32_t i = 0; i < count; ++i) Push(For(first + i, id), all);
}

KnownCores HazardCrossCore::TakeFlag(HazardTask task, int id) { return Pop(For(task, id)); }

KnownCores HazardCrossCore::Pop(const Place& place) {
  const auto found = flags_.find(place);
  if (found == flags_.end()) return nullptr;
  std::vector<KnownCores>& queue = found->second;
  KnownCores known = std::move(queue.front());
  queue.erase(queue.begin());
  if (queue.empty()) flags_.erase(found);
  return known;
}

void HazardCrossCore::Arrive(const void* key, uint32_t number, const KnownCores& done) {
  Meeting& meeting = meetings_[{key, number}];
  ++meeting.arrived;
  meeting.known = Join(meeting.known, done);
}

KnownCores HazardCrossCore::Leave(const void* key, uint32_t number) {
  const auto found = meetings_.find({key, number});
  if (found == meetings_.end()) return nullptr;
  KnownCores known = found->second.known;
  if (++found->second.left == found->second.arrived) meetings_.erase(found);
  return known;
}

void HazardCrossCore::Notify(uint64_t address, const KnownCores& done) {
  KnownCores& known = signals_[address];
  known = Join(known, done);
}

KnownCores HazardCrossCore::Signals(uint64_t begin, uint64_t end) const {
  KnownCores all;
  for (auto at = signals_.lower_bound(begin); at != signals_.end() && at->first < end; ++at) {
    all = Join(all, at->second);
  }
  return all;
}

}  // namespace npu
