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
                              const HazardSide& set, const KnownCores& done) {
  const Flag flag = {done, set};
  if (scope == FlagScope::kAllBlocks) return SetAllBlocks(core, task, id, flag);
  if (scope == FlagScope::kIntraBlock) return SetIntraBlock(core, task, id, flag);
  if (core.type == CoreType::kVector) return SetVectorPair(core, task, scope, id, flag);
  Push(For(task + 1, id), flag);
  Push(For(task + 2, id), flag);
}

void HazardCrossCore::SetIntraBlock(const Core& core, HazardTask task, int id, const Flag& flag) {
  if (core.type == CoreType::kVector) {
    const int of_core = static_cast<int>(core.sub_block_id) * 16;
    return Push(For(task - 1 - core.sub_block_id, id + of_core), flag);
  }
  const int number = id - kIntraBlockFlag;
  const HazardTask to = task + 1 + static_cast<uint32_t>(number / 16);
  Push(For(to, kIntraBlockFlag + number % 16), flag);
}

void HazardCrossCore::SetAllBlocks(const Core& core, HazardTask task, int id, const Flag& flag) {
  Push(Of(task, FlagScope::kAllBlocks, id), flag);
  std::vector<Place> sets;
  for (const HazardTask each : TasksLike(core)) {
    sets.push_back(Of(each, FlagScope::kAllBlocks, id));
    if (flags_.count(sets.back()) == 0) return;
  }
  const std::vector<Flag> all = PopAll(sets);
  for (size_t i = 0; i < all.size(); ++i) Push(For(sets[i].task, id), all[i]);
}

void HazardCrossCore::SetVectorPair(const Core& core, HazardTask task, FlagScope scope, int id,
                                    const Flag& flag) {
  const uint32_t count = IsMix(core) ? 2 : 1;
  const HazardTask first = task - core.sub_block_id;
  Push(Of(task, scope, id), flag);
  std::vector<Place> sets;
  for (uint32_t i = 0; i < count; ++i) {
    sets.push_back(Of(first + i, scope, id));
    if (flags_.count(sets.back()) == 0) return;
  }
  const std::vector<Flag> all = PopAll(sets);
  if (scope == FlagScope::kBlockGroup) return Push(For(first - 1, id), all.front());
  for (uint32_t i = 0; i < count; ++i) Push(For(first + i, id), all[i]);
}

KnownCores HazardCrossCore::TakeFlag(HazardTask task, int id) { return Pop(For(task, id)).known; }

HazardCrossCore::Flag HazardCrossCore::Pop(const Place& place) {
  const auto found = flags_.find(place);
  if (found == flags_.end()) return {};
  std::vector<Flag>& queue = found->second;
  Flag flag = std::move(queue.front());
  queue.erase(queue.begin());
  if (queue.empty()) flags_.erase(found);
  return flag;
}

std::vector<HazardCrossCore::Flag> HazardCrossCore::PopAll(const std::vector<Place>& places) {
  std::vector<Flag> all;
  KnownCores known;
  for (const Place& place : places) {
    all.push_back(Pop(place));
    known = Join(known, all.back().known);
  }
  for (Flag& flag : all) flag.known = known;
  return all;
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
