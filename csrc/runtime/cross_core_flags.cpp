// SPDX-License-Identifier: Apache-2.0
#include "runtime/cross_core_flags.hpp"

#include <string>

#include "npu/error.hpp"

namespace npu::runtime {
namespace {

constexpr const char* kSet = "ffts_cross_core_sync";

[[noreturn]] void RaiseTooMany(int id) {
  RaiseFault(kSet,
             "at most " + std::to_string(CrossCoreFlags::kMaxPending) + " sets of flag " +
                 std::to_string(id) + " without a wait_flag_dev",
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
    case FlagScope::kBlockGroup:
      if (!shape_.is_mix()) {
        RaiseFault(kSet, "a kernel with cube and vector cores (mode 2)",
                   shape_.has_cube ? "one without vector cores" : "one without cube cores");
      }
      if (core.type == CoreType::kVector) return SetVectorPair(core, scope, id, woken);
      MakeVisible(SlotOf(core).task + 1, id, woken);
      MakeVisible(SlotOf(core).task + 2, id, woken);
      return;
  }
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

void CrossCoreFlags::Await(Core& core, int id) {
  CoreSlot& slot = SlotOf(core);
  slot.wait_id = id;
  Of(slot.task).waiter = &slot;
}

}  // namespace npu::runtime
