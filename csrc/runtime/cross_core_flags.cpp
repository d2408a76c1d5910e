// SPDX-License-Identifier: Apache-2.0
#include "runtime/cross_core_flags.hpp"

#include <string>

#include "npu/error.hpp"

namespace npu::runtime {
namespace {

constexpr const char* kSet = "ffts_cross_core_sync";

[[noreturn]] void RaiseTooMany(int id) {
  const bool intra = id >= kIntraBlockFlag;
  RaiseFault(intra ? "set_intra_block" : kSet,
             "at most " + std::to_string(CrossCoreFlags::kMaxPending) + " sets of flag " +
                 std::to_string(intra ? id - kIntraBlockFlag : id) + " without a " +
                 (intra ? "wait_intra_block" : "wait_flag_dev"),
             "one more");
}

}  // namespace

CrossCoreFlags::TaskFlags& CrossCoreFlags::Of(uint32_t task) {
  if (tasks_.empty()) tasks_.resize(shape_.tasks());
  return tasks_[task];
}

void CrossCoreFlags::Set(Core& core, FlagScope scope, int id, std::vector<CoreSlot*>& woken) {
  switch (scope) {
    case FlagScope::kAllBlocks:
      return SetAllBlocks(core, id, woken);
    case FlagScope::kVectorSubBlocks:
      if (core.type != CoreType::kVector) {
        RaiseFault(kSet, "a vector core (mode 1)", "a cube core");
      }
      return SetVectorPair(core, scope, id, woken);
    case FlagScope::kIntraBlock:
      return SetIntraBlock(core, id, woken);
    case FlagScope::kBlockGroup:
      CheckMix(kSet, " (mode 2)");
      if (core.type == CoreType::kVector) return SetVectorPair(core, scope, id, woken);
      MakeVisible(SlotOf(core).task + 1, id, woken);
      MakeVisible(SlotOf(core).task + 2, id, woken);
      return;
  }
}

void CrossCoreFlags::CheckMix(const char* op, const char* mode) const {
  if (shape_.is_mix()) return;
  RaiseFault(op, std::string("a kernel with cube and vector cores") + mode,
             shape_.has_cube ? "one without vector cores" : "one without cube cores");
}

void CrossCoreFlags::SetIntraBlock(Core& core, int id, std::vector<CoreSlot*>& woken) {
  CheckMix("set_intra_block", "");
  const uint32_t task = SlotOf(core).task;
  if (core.type == CoreType::kVector) {
    const int of_core = static_cast<int>(core.sub_block_id) * 16;
    return MakeVisible(task - 1 - core.sub_block_id, id + of_core, woken);
  }
  const int number = id - kIntraBlockFlag;
  MakeVisible(task + 1 + static_cast<uint32_t>(number / 16), kIntraBlockFlag + number % 16, woken);
}

void CrossCoreFlags::Arrive(Core& core, FlagScope scope, int id) {
  uint8_t& count = Of(SlotOf(core).task).arrivals[static_cast<int>(scope)][id];
  if (count == kMaxPending) RaiseTooMany(id);
  ++count;
}

void CrossCoreFlags::SetAllBlocks(Core& core, int id, std::vector<CoreSlot*>& woken) {
  constexpr int kScope = static_cast<int>(FlagScope::kAllBlocks);
  Arrive(core, FlagScope::kAllBlocks, id);
  uint32_t& arrived = arrived_[static_cast<int>(core.type)][id];
  if (Of(SlotOf(core).task).arrivals[kScope][id] == 1) ++arrived;
  if (arrived != shape_.Count(core.type)) return;
  for (uint32_t task = 0; task < shape_.tasks(); ++task) {
    if (shape_.TypeOf(task) != core.type) continue;
    if (--tasks_[task].arrivals[kScope][id] == 0) --arrived;
    MakeVisible(task, id, woken);
  }
}

void CrossCoreFlags::SetVectorPair(Core& core, FlagScope scope, int id,
                                   std::vector<CoreSlot*>& woken) {
  Arrive(core, scope, id);
  const uint32_t vector_cores = shape_.vector_cores_per_block();
  const uint32_t first = SlotOf(core).task - core.sub_block_id;
  const int index = static_cast<int>(scope);
  for (uint32_t i = 0; i < vector_cores; ++i) {
    if (tasks_[first + i].arrivals[index][id] == 0) return;
  }
  for (uint32_t i = 0; i < vector_cores; ++i) --tasks_[first + i].arrivals[index][id];
  if (scope == FlagScope::kBlockGroup) return MakeVisible(first - 1, id, woken);
  for (uint32_t i = 0; i < vector_cores; ++i) MakeVisible(first + i, id, woken);
}

void CrossCoreFlags::MakeVisible(uint32_t task, int id, std::vector<CoreSlot*>& woken) {
  TaskFlags& flags = Of(task);
  if (flags.visible[id] == kMaxPending) RaiseTooMany(id);
  ++flags.visible[id];
  if (flags.waiter != nullptr && flags.waiter->wait_id == id) {
    woken.push_back(flags.waiter);
    flags.waiter = nullptr;
  }
}

bool CrossCoreFlags::TryTake(Core& core, int id) {
  uint8_t& visible = Of(SlotOf(core).task).visible[id];
  if (visible == 0) return false;
  --visible;
  return true;
}

std::string CrossCoreFlags::DescribeMissing(uint32_t task, int id) const {
  constexpr int kGroup = static_cast<int>(FlagScope::kBlockGroup);
  if (id >= kCrossCoreFlagIds || tasks_.empty()) return "";
  const uint32_t all = arrived_[static_cast<int>(shape_.TypeOf(task))][id];
  if (all != 0) {
    return ", which " + std::to_string(all) + " of " +
           std::to_string(shape_.Count(shape_.TypeOf(task))) + " cores have set";
  }
  if (!shape_.is_mix() || shape_.TypeOf(task) != CoreType::kCube) return "";
  const bool set0 = tasks_[task + 1].arrivals[kGroup][id] != 0;
  const bool set1 = tasks_[task + 2].arrivals[kGroup][id] != 0;
  if (set0 == set1) return "";
  return std::string(", which vector core ") + (set0 ? "1" : "0") + " has not set";
}

void CrossCoreFlags::Await(Core& core, int id) {
  CoreSlot& slot = SlotOf(core);
  slot.wait_id = id;
  Of(slot.task).waiter = &slot;
}

}  // namespace npu::runtime
