// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core_slot.hpp"
#include "runtime/launch_shape.hpp"

namespace npu::runtime {

/// Counters of cross-core flags of one launch. Source: PTO ISA, ffts_cross_core_sync and
/// wait_flag_dev.
class CrossCoreFlags {
 public:
  static constexpr int kMaxPending = 15;  // sets of one flag that nobody has waited for

  void Reset(const LaunchShape& shape) {
    shape_ = shape;
    if (tasks_.empty()) return;  // not used since the last reset
    tasks_.clear();
    for (auto& group : arrived_) {
      for (uint32_t& count : group) count = 0;
    }
  }

  /// Counts a set by core; appends the waiting cores that it lets go on to woken. Throws Fault. Ids
  /// and scopes are those of the instructions, which have checked them.
  void Set(Core& core, FlagScope scope, int id, std::vector<CoreSlot*>& woken);

  /// Takes a count off flag id of core; false when there is none.
  bool TryTake(Core& core, int id);

  /// Whether TryTake would find one.
  bool IsSet(uint32_t task, int id) const {
    return !tasks_.empty() && tasks_[task].visible[id] != 0;
  }

  /// core waits for id from now on.
  void Await(Core& core, int id);

  /// Who has to set flag id of task, as far as sets of it tell: ", which vector core 1 has not
  /// set".
  std::string DescribeMissing(uint32_t task, int id) const;

 private:
  struct TaskFlags {
    uint8_t visible[kFlagIdsOfCore] = {};
    uint8_t arrivals[3][kCrossCoreFlagIds] = {};  // sets that await those of other cores, by scope
    CoreSlot* waiter = nullptr;                   // the core itself while it waits
  };

  TaskFlags& Of(uint32_t task);
  void Arrive(Core& core, FlagScope scope, int id);
  void MakeVisible(uint32_t task, int id, std::vector<CoreSlot*>& woken);
  void SetAllBlocks(Core& core, int id, std::vector<CoreSlot*>& woken);
  void SetVectorPair(Core& core, FlagScope scope, int id, std::vector<CoreSlot*>& woken);
  void SetIntraBlock(Core& core, int id, std::vector<CoreSlot*>& woken);
  void CheckMix(const char* op, const char* mode) const;

  LaunchShape shape_;
  std::vector<TaskFlags> tasks_;  // empty until the first use in a launch
  uint32_t arrived_[2][kCrossCoreFlagIds] =
      {};  // cores with arrivals of scope kAllBlocks, by CoreType
};

}  // namespace npu::runtime
