// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>

#include "npu/core.hpp"
#include "runtime/core_slot.hpp"
#include "runtime/fiber_image.hpp"

namespace npu::runtime {

inline constexpr int kInnerFlag = kEventIds;  // the id of what no set_flag sets

class RandomExecutor;

/// An instruction that waits for its turn: the stack with its operands, and the registers, as its
/// place in the text found them.
struct SuspendedInstruction {
  Core core;
  FiberImage image;
};

/// What stands in the queue of a pipe.
struct PipeEntry {
  enum class Kind : uint8_t { kInstruction, kSetFlag, kWaitFlag, kSetCrossCore, kWaitCrossCore };
  Kind kind;
  Pipe other = Pipe::kS;  // the destination of a set, the source of a wait
  FlagScope scope = FlagScope::kAllBlocks;
  int id = 0;
  uint64_t number = 0;  // of the instruction in its block
  std::unique_ptr<SuspendedInstruction> instruction = {};
};

/// What holds the dispatch of a core's text.
enum class Hold : uint8_t { kNothing, kFlag, kCrossCore, kPipes, kSyncAll, kPoll, kEnded };

/// A core while it runs a block in random order: a fiber that goes through the text of the kernel
/// as the scalar unit does, and queues of what it has dispatched to the other pipes.
struct RandomCore {
  RandomCore(RandomExecutor& owner, CoreType type, const Arch& arch, void (*entry)(void*))
      : executor(owner), slot(type, arch), fiber(entry, this) {}

  static constexpr int kDispatch = 0;  // index of the dispatch among weights; S has no queue
  static_assert(static_cast<int>(Pipe::kS) == kDispatch);

  /// As a block finds it: nothing is set, and on-chip memory holds what no kernel has written.
  void Clear();

  std::deque<PipeEntry>& QueueOf(Pipe pipe) { return queues[static_cast<int>(pipe)]; }
  uint32_t& FlagOf(Pipe source, Pipe destination, int flag) {
    return flags[static_cast<int>(source)][static_cast<int>(destination)][flag];
  }
  void Push(Pipe pipe, PipeEntry entry) {
    entry.number = slot.core.instruction;
    QueueOf(pipe).push_back(std::move(entry));
    ++queued;
  }

  RandomExecutor& executor;
  CoreSlot slot;
  Fiber fiber;
  std::deque<PipeEntry> queues[kPipes];
  size_t queued = 0;                                    // in all queues
  uint32_t flags[kPipes][kPipes][kInnerFlag + 1] = {};  // sets that were executed, less waits
  uint64_t weights[kPipes] = {};  // how likely a pipe, or the dispatch, is next
  Hold hold = Hold::kNothing;
  Pipe held_for = Pipe::kS;   // source of the flag that holds the dispatch
  int held_id = 0;            // flag id, or SyncGroup
  bool has_met = false;       // those of its SYNCALL have arrived
  Pipe offered = Pipe::kAll;  // pipe of the instruction at which the fiber stands, or none
  bool is_abandoned = false;
};

}  // namespace npu::runtime
