// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "npu/core.hpp"
#include "observe/hazard_clock.hpp"

namespace npu {

/// What flags between cores, meetings of cores and signals in global memory carry from core to
/// core. Counts as whoever runs the cores does.
class HazardCrossCore {
 public:
  void SetFlag(const Core& core, HazardTask task, FlagScope scope, int id, const KnownCores& done);
  /// What the flag carries that core has waited for.
  KnownCores TakeFlag(HazardTask task, int id);

  /// The core with this number of earlier arrivals arrives; key tells meetings of different cores
  /// apart.
  void Arrive(const void* key, uint32_t number, const KnownCores& done);
  /// What all that met know.
  KnownCores Leave(const void* key, uint32_t number);

  void Notify(uint64_t address, const KnownCores& done);
  /// What signals from begin up to end carry.
  KnownCores Signals(uint64_t begin, uint64_t end) const;

  /// Calls visit(known) for all that may still be learnt.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [task, flags] : flags_) {
      for (const auto& queue : flags.visible) {
        for (const KnownCores& known : queue) visit(known);
      }
      for (const auto& scope : flags.arrivals) {
        for (const auto& queue : scope) {
          for (const KnownCores& known : queue) visit(known);
        }
      }
    }
    for (const auto& [key, meeting] : meetings_) visit(meeting.known);
    for (const auto& [address, known] : signals_) visit(known);
  }

 private:
  using Queue = std::deque<KnownCores>;
  struct TaskFlags {
    Queue visible[kFlagIdsOfCore];
    Queue arrivals[3][kCrossCoreFlagIds];  // sets that await those of other cores, by scope
  };
  struct Meeting {
    uint32_t arrived = 0;
    uint32_t left = 0;
    KnownCores known;
  };

  void SetAllBlocks(const Core& core, HazardTask task, int id, const KnownCores& done);
  void SetVectorPair(const Core& core, HazardTask task, FlagScope scope, int id,
                     const KnownCores& done);
  void SetIntraBlock(const Core& core, HazardTask task, int id, const KnownCores& done);
  Queue& Arrivals(HazardTask task, FlagScope scope, int id) {
    return flags_[task].arrivals[static_cast<int>(scope)][id];
  }

  std::unordered_map<HazardTask, TaskFlags> flags_;
  std::map<std::pair<const void*, uint32_t>, Meeting> meetings_;
  std::map<uint64_t, KnownCores> signals_;
};

}  // namespace npu
