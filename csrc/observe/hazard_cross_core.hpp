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
#include "observe/hazard_finding.hpp"

namespace npu {

/// What flags between cores, meetings of cores and signals in global memory carry from core to
/// core. Counts as whoever runs the cores does.
class HazardCrossCore {
 public:
  /// set: the call.
  void SetFlag(const Core& core, HazardTask task, FlagScope scope, int id, const HazardSide& set,
               const KnownCores& done);
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
  /// Calls visit(set, id) for each set that nobody has taken, or that awaits those of other cores.
  template <class Visit>
  void ForEachSet(const Visit& visit) const {
    for (const auto& [place, queue] : flags_) {
      for (const Flag& flag : queue) visit(flag.set, place.id);
    }
  }

  /// Calls visit(known) for all that may still be learnt.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [place, queue] : flags_) {
      for (const Flag& flag : queue) visit(flag.known);
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

  struct Flag {
    KnownCores known;
    HazardSide set;  // of those that set it the core that waits, if it is one of them
  };

  static Place For(HazardTask task, int id) { return {task, true, {}, id}; }
  static Place Of(HazardTask task, FlagScope scope, int id) { return {task, false, scope, id}; }
  void Push(const Place& place, const Flag& flag) { flags_[place].push_back(flag); }
  /// The first; one of no core where there is none.
  Flag Pop(const Place& place);
  /// The first of each of places, with what all of them know.
  std::vector<Flag> PopAll(const std::vector<Place>& places);

  void SetAllBlocks(const Core& core, HazardTask task, int id, const Flag& flag);
  void SetVectorPair(const Core& core, HazardTask task, FlagScope scope, int id, const Flag& flag);
  void SetIntraBlock(const Core& core, HazardTask task, int id, const Flag& flag);

  std::map<Place, std::vector<Flag>> flags_;  // that nobody has taken; none is empty
  std::map<std::pair<const void*, uint32_t>, Meeting> meetings_;
  std::map<uint64_t, KnownCores> signals_;
};

}  // namespace npu
