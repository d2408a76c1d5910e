// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
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

  /// Flags of tasks that are kept now.
  size_t flags() const { return flags_.size(); }

  /// Calls visit(known) for all that may still be learnt.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [place, queue] : flags_) {
      for (const KnownCores& known : queue) visit(known);
    }
    for (const auto& [key, meeting] : meetings_) visit(meeting.known);
    for (const auto& [address, known] : signals_) visit(known);
  }

 private:
  /// Flag id of a task: set for it, or its own sets of a scope, which await those of other cores.
  struct Place {
    HazardTask task;
    bool is_set;
    FlagScope scope;
    int id;

    auto operator<=>(const Place&) const = default;
  };
  struct Meeting {
    uint32_t arrived = 0;
    uint32_t left = 0;
    KnownCores known;
  };

  static Place For(HazardTask task, int id) { return {task, true, {}, id}; }
  static Place Of(HazardTask task, FlagScope scope, int id) { return {task, false, scope, id}; }
  void Push(const Place& place, const KnownCores& done) { flags_[place].push_back(done); }
  /// The first; null where there is none.
  KnownCores Pop(const Place& place);

  void SetAllBlocks(const Core& core, HazardTask task, int id, const KnownCores& done);
  void SetVectorPair(const Core& core, HazardTask task, FlagScope scope, int id,
                     const KnownCores& done);
  void SetIntraBlock(const Core& core, HazardTask task, int id, const KnownCores& done);

  std::map<Place, std::vector<KnownCores>> flags_;  // that nobody has taken; none is empty
  std::map<std::pair<const void*, uint32_t>, Meeting> meetings_;
  std::map<uint64_t, KnownCores> signals_;
};

}  // namespace npu
