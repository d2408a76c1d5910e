// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "npu/core.hpp"

namespace npu::runtime {

class Fiber;

/// What a core waits for.
enum class Wait : uint8_t { kNothing, kFlag, kSyncAll, kPoll };

/// A core with its scratchpads, bound to one task (core of a block) after the other.
struct CoreSlot {
  /// With the memory of cores of type, or of all of a block.
  CoreSlot(CoreType type, const Arch& arch, bool is_whole = false);
  ~CoreSlot();
  CoreSlot(const CoreSlot&) = delete;
  CoreSlot& operator=(const CoreSlot&) = delete;

  Core core;  // the first member: a Core& that a kernel hands back is its slot
  Fiber* fiber = nullptr;
  CoreSlot* next = nullptr;    // in a SlotQueue
  uint64_t launch = 0;         // serial number of the launch that core's constant fields describe
  uint32_t task = 0;           // index in the launch
  uint32_t blocked_index = 0;  // place in the scheduler's list of blocked cores
  Wait wait = Wait::kNothing;
  int wait_id = 0;                // flag id, or SyncGroup
  const char* polls = nullptr;    // what the core polls
  uint64_t polled_at = 0;         // instructions at its last poll
  uint32_t aborts = 0;            // times it was told to stop
  uint32_t core_id = UINT32_MAX;  // of CoreIds, UINT32_MAX for none
  void* mapping = nullptr;
  size_t mapping_bytes = 0;
};

/// Flags, counters and registers as a kernel finds them.
void ClearState(Core& core);

/// Takes the storage of tiles that live on after what ran on core, in static variables, say.
void TakeBlocksBack(Core& core);

inline CoreSlot& SlotOf(Core& core) { return reinterpret_cast<CoreSlot&>(core); }

/// First in, first out, without allocation.
class SlotQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  /// The first; the others follow by next, up to null.
  CoreSlot* front() const { return head_; }
  void Push(CoreSlot* slot) {
    slot->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = slot;
    tail_ = slot;
  }
  CoreSlot* Pop() {
    CoreSlot* slot = head_;
    head_ = slot->next;
    return slot;
  }

 private:
  CoreSlot* head_ = nullptr;
  CoreSlot* tail_ = nullptr;
};

/// Numbers of cores that run, for those that ask: each has another among the cores of its type, the
/// lowest that is free.
class CoreIds {
 public:
  /// The number of slot, now if it had none.
  uint32_t Of(CoreSlot& slot);
  /// Frees the number of slot, if it has one.
  void TakeBack(CoreSlot& slot) {
    if (slot.core_id == UINT32_MAX) [[likely]]
      return;
    taken_[static_cast<int>(slot.core.type)][slot.core_id] = false;
    slot.core_id = UINT32_MAX;
  }

 private:
  std::vector<bool> taken_[2];  // by CoreType
};

/// Cores that run nothing now. The one that ended last is taken first: its scratchpads are in the
/// cache.
class CorePool {
 public:
  CorePool() = default;
  ~CorePool();
  CorePool(const CorePool&) = delete;
  CorePool& operator=(const CorePool&) = delete;

  CoreSlot* Take(CoreType type, const Arch& arch) {
    CoreSlot*& idle = idle_[static_cast<int>(type)];
    if (idle == nullptr) return new CoreSlot(type, arch);
    CoreSlot* slot = idle;
    idle = slot->next;
    return slot;
  }
  void Give(CoreSlot* slot) {
    CoreSlot*& idle = idle_[static_cast<int>(slot->core.type)];
    slot->next = idle;
    idle = slot;
  }

 private:
  CoreSlot* idle_[2] = {};  // lists by CoreType
};

}  // namespace npu::runtime
