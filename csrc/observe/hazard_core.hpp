// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npu/core.hpp"
#include "observe/hazard_clock.hpp"
#include "observe/hazard_map.hpp"

namespace npu {

/// A flag that is set and not waited for.
struct PendingFlag {
  HazardClock clock;  // of its set
  const void* call_site;
};

/// Bytes of an on-chip space of a core that runs.
struct SpaceBytes {
  uint64_t begin = 0, end = 0;
};

/// Places of the tiles of a core, by address.
class HazardExtents {
 public:
  void Clear() {
    extents_.clear();
    for (TileExtent& slot : slots_) slot = {};
  }
  void Set(const TileExtent& extent) {
    extents_[extent.begin] = extent;
    SlotOf(extent.begin) = extent;
  }
  /// That of the tile that was placed at address last, or none.
  TileExtent At(uint64_t address) {
    TileExtent& slot = SlotOf(address);
    if (slot.begin == address && slot.end != 0) return slot;
    const auto found = extents_.find(address);
    if (found == extents_.end()) return {};
    return slot = found->second;
  }

 private:
  static constexpr size_t kSlots = 32;

  TileExtent& SlotOf(uint64_t address) { return slots_[(address >> 5 ^ address >> 12) % kSlots]; }

  std::unordered_map<uint64_t, TileExtent> extents_;
  TileExtent slots_[kSlots];  // some of them at hand
};

/// One core of a launch while it runs: what its pipes know.
struct HazardCore {
  static constexpr int kFlags = kPipes * kPipes * kEventIds;

  HazardTask task = kNobody;
  CoreType type = CoreType::kVector;
  uint32_t block = 0;
  uint32_t sub_block = 0;
  bool is_a3 = true;
  SpaceBytes spaces[kOnChipSpaces];
  HazardClock pipes[kPipes];
  /// What the scalar unit has waited for: it hands out the instructions of all pipes in program
  /// order. Without its own accesses, which are those of pipe S.
  HazardClock dispatch;
  uint32_t dispatches = 1;      // changes of dispatch
  uint32_t seen[kPipes] = {};   // of them by pipe
  Epoch barrier_of_vector = 0;  // the last epoch of pipe V that has ended for pipe V itself
  std::vector<PendingFlag> flags[kFlags];
  HazardExtents extents;
  uint32_t arrivals[3] = {};                                // at meetings, by SyncGroup
  std::unordered_map<const void*, uint32_t> soft_arrivals;  // by counter
  TileExtent polled;  // signals that an instruction which has not ended yet looks at

  void Begin(HazardTask number, const Core& core);
  std::vector<PendingFlag>& Flag(Pipe source, Pipe destination, int id) {
    return flags[(static_cast<int>(source) * kPipes + static_cast<int>(destination)) * kEventIds +
                 id];
  }
  /// The clock of an instruction of pipe that is handed out now.
  HazardClock& ClockOf(Pipe pipe) {
    const auto index = static_cast<int>(pipe);
    if (seen[index] != dispatches) {
      seen[index] = dispatches;
      pipes[index].Join(dispatch);
    }
    return pipes[index];
  }
  /// All pipes and the scalar unit go on after what all of them have done; what they have, and what
  /// comes later does not belong to.
  HazardClock MeetAll();
  /// Pipe, or kS and with it what follows on all pipes, goes on after clock.
  void Await(Pipe pipe, const HazardClock& clock);
  /// The same of what other cores have told.
  void Learn(Pipe pipe, const KnownCores& cores);
  /// What pipe (kAll: every one) has done by now; what it does later does not belong to it.
  HazardClock Release(Pipe pipe);
};

}  // namespace npu
