// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "npu/core.hpp"
#include "npu/observer.hpp"
#include "observe/hazard_core.hpp"
#include "observe/hazard_cross_core.hpp"
#include "observe/hazard_finding.hpp"
#include "observe/hazard_map.hpp"
#include "observe/hazard_sites.hpp"

namespace npu {

/// What the checker asks of whoever runs a launch.
struct HazardLaunchFacts {
  const char* kernel;
  /// The memory that address lies in, up to the end of what was asked for, or the gap there.
  GlobalMemory (*find_memory)(const void* context, const void* address);
  const void* context;
};

/// One launch as the checker sees it: which of its accesses are ordered, and what it found. Used by
/// the thread that runs the launch alone.
///
/// Every pipe of every core has a clock. An access carries the epoch of its pipe; a later one is
/// ordered behind it where the clock of its own pipe knows that epoch: by program order within the
/// pipe, by flags, by barriers of all pipes, by flags between cores and by meetings. What the
/// scalar unit waits for holds back all later instructions of its core.
class LaunchHazards {
 public:
  LaunchHazards(uint32_t kinds, const HazardLaunchFacts& facts) : kinds_(kinds), facts_(facts) {}
  LaunchHazards(const LaunchHazards&) = delete;
  LaunchHazards& operator=(const LaunchHazards&) = delete;

  void OnInstruction(const Core& core, const Instruction& instruction);
  void OnSetFlag(const Core& core, Pipe source, Pipe destination, int id, const void* call_site);
  void OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id);
  void OnBarrier(const Core& core, Pipe pipe);
  void OnInnerFlag(const Core& core, Pipe from, Pipe to);
  void OnKernelEnd(const Core& core);
  void OnPlacement(const Core& core, const Placement& placement);
  void OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                          const void* call_site);
  void OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id);
  void OnArrive(const Core& core, const SyncPoint& point);
  void OnLeave(const Core& core, const SyncPoint& point);
  /// All cores have run to their end.
  void OnLaunchEnd();

  /// Findings that no launch had made before, and the index of the first.
  size_t new_findings() const { return new_findings_; }
  size_t first_finding() const { return first_finding_; }
  /// Records of global memory that are kept now.
  size_t global_records() const { return global_.size(); }

 private:
  /// One access while it is looked at.
  struct Touch {
    HazardCore& core;
    const HazardClock& clock;
    HazardStamp stamp;
    Space space = Space::kGm;
    TileExtent extent = {};       // of the tile of the operand
    TileExtent used = {};         // of it, from the first to the last byte
    uint64_t begin = 0, end = 0;  // of the operand, as far as it has been looked at

    /// Whether the tile shares bytes with another one, and what is used of it sticks out of that.
    bool SticksOutOf(const TileExtent& other) const {
      return other.PartlyOverlaps(extent) && !other.Holds(used);
    }
  };
  /// Bytes of one access that conflict with those of one call.
  struct Conflict {
    HazardKind kind;
    HazardStamp first;
    TileExtent first_bytes;
    uint64_t begin, end;
    std::vector<TileExtent> pieces;  // of writes over writes
  };
  /// Bytes that both vector cores of a block write by one line, as TPUSH without a split does: a
  /// conflict if the second write changes what the first has left, known once it is executed.
  struct Repetition {
    Hazard hazard;
    std::vector<TileExtent> pieces;
    std::vector<char> bytes;  // of all pieces
  };
  /// A task that has ended, or not begun: whether another one may know of it.
  struct TaskState {
    std::unique_ptr<HazardCore> core;  // null: it does not run
    bool is_known = false;
  };

  bool Wants(HazardKinds kind) const { return (kinds_ & kind) != 0; }
  HazardCore& CoreOf(const Core& core) {
    const bool is_last = last_ != nullptr && last_->block == core.block_idx &&
                         last_->sub_block == core.sub_block_id && last_->type == core.type &&
                         last_->polled.end == 0;
    return is_last ? *last_ : FindCore(core);
  }
  HazardCore& FindCore(const Core& core);
  void BeginCore(HazardTask task, const Core& core);

  // Accesses.
  bool Clip(Touch& touch, const Access& access) const;
  void TouchAll(const Touch& touch, const Access& access);
  void TouchBytes(const Touch& touch, uint64_t begin, uint64_t end);
  void Read(const Touch& touch, uint64_t begin, AccessRecord& record);
  void Write(const Touch& touch, uint64_t begin, AccessRecord& record);
  bool Conflicts(const Touch& touch, const HazardStamp& first, uint64_t begin, uint64_t end);
  void AddReader(const Touch& touch, AccessRecord& record);
  void CheckRange(const Touch& touch);
  void HandOnSignal(HazardCore& core, const Instruction& instruction);

  // Findings.
  void Note(HazardKind kind, const HazardStamp& first, const TileExtent& first_bytes,
            uint64_t begin, uint64_t end);
  void ReportConflicts(const Touch& touch);
  bool MayRepeat(const Touch& touch, const Conflict& conflict) const;
  void JudgeRepetitions();
  void Report(const Hazard& hazard);
  HazardSide SideOf(const HazardStamp& stamp, uint64_t begin, uint64_t end) const;
  void ReportFlag(HazardKind kind, const HazardCore& core, Pipe source, Pipe destination, int id,
                  const void* first, const void* second);
  int FreeFlag(const HazardCore& core, Pipe source, Pipe destination) const;
  uint64_t BaseOf(Space space, uint64_t address);
  const GlobalMemory& MemoryOf(uint64_t address);

  // Records that no clock tells apart are made one.
  void SettleGlobal();

  uint32_t kinds_;
  HazardLaunchFacts facts_;
  uint32_t cores_per_block_ = 0;  // 0: no core has run
  bool is_cube_launch_ = false;   // where a block is one core
  std::vector<TaskState> tasks_;
  std::vector<std::unique_ptr<HazardCore>> idle_;
  std::vector<HazardCore*> running_;
  HazardCore* last_ = nullptr;
  HazardSites sites_;
  HazardCrossCore cross_core_;
  AccessMap chip_, global_;
  static constexpr size_t kFewRecords = 4096;
  size_t settle_at_ = kFewRecords;       // records of global memory
  std::vector<Conflict> conflicts_;      // of the access that is looked at
  std::vector<Repetition> repetitions_;  // of the instruction that has just begun
  bool reads_written_ = false;           // that operand holds bytes that something has written
  GlobalMemory memories_[kMemoriesAtHand] = {};
  uint8_t next_memory_ = 0;
  size_t new_findings_ = 0, first_finding_ = 0;
};

}  // namespace npu
