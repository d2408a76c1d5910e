// SPDX-License-Identifier: Apache-2.0
// What a kernel's text asks for while it runs in random order, and how that is executed.
#include <algorithm>
#include <exception>
#include <utility>

#include "npu/error.hpp"
#include "observe/text_order.hpp"
#include "observe/trace_recorder.hpp"
#include "runtime/global_memory.hpp"
#include "runtime/launch_aborted.hpp"
#include "runtime/random_executor.hpp"

namespace npu::runtime {
namespace {

constexpr uint64_t kAtOnce = 4;  // one in so many instructions that find their queue empty

}  // namespace

void RandomExecutor::SwitchTo(RandomCore& core) {
  running_ = &core.fiber;
  current_core = &core.slot.core;
  Fiber::Switch(main_, core.fiber);
  running_ = &main_;
  current_core = nullptr;
}

void RandomExecutor::Pause(RandomCore& core) { Fiber::Switch(core.fiber, main_); }

void RandomExecutor::PauseFor(RandomCore& core, Hold hold) {
  core.hold = hold;
  if (hold != Hold::kEnded) TraceRecorder::OnSuspend(core.slot.core);
  Pause(core);
}

void RandomExecutor::RunFiber(void* core) {
  auto& self = *static_cast<RandomCore*>(core);
  for (;;) {
    self.executor.RunKernel(self);
    self.executor.PauseFor(self, Hold::kEnded);
  }
}

/// Runs the text of core, and the end of queued instructions that fault.
void RandomExecutor::RunKernel(RandomCore& core) {
  const bool is_cube = core.slot.core.type == CoreType::kCube;
  const npuKernelPass& pass = is_cube ? *launch_.kernel->cube : *launch_.kernel->vector;
  const auto where = [&] { return std::string(Where(core.slot.core).c_str()) + ": "; };
  try {
    if (!stopped_) pass.run(launch_.args.data());
    if (!stopped_) observer_->OnKernelEnd(core.slot.core);
  } catch (const LaunchAborted&) {
  } catch (const Fault& fault) {
    if (!stopped_)
      Stop(NPU_ERROR_KERNEL_FAULT, fault.what() + fault_place_.Describe(core.slot.core));
  } catch (...) {
    Stop(NPU_ERROR_KERNEL_FAULT, where() + DescribeException("the kernel"));
  }
  if (executing_ != nullptr) Pause(core);  // for good
}

/// Lets the text of core go on.
void RandomExecutor::Dispatch(RandomCore& core) {
  if (core.hold == Hold::kFlag) --core.FlagOf(core.held_for, Pipe::kS, core.held_id);
  if (core.hold == Hold::kCrossCore) flags_.TryTake(core.slot.core, core.held_id);
  core.hold = Hold::kNothing;
  SwitchTo(core);
  const Pipe pipe = std::exchange(core.offered, Pipe::kAll);
  if (pipe == Pipe::kAll || stopped_) return;
  PipeEntry entry = {PipeEntry::Kind::kInstruction};
  if (spare_.empty()) spare_.push_back(std::make_unique<SuspendedInstruction>());
  entry.instruction = std::move(spare_.back());
  spare_.pop_back();
  entry.instruction->core = core.slot.core;
  entry.instruction->image.Take(core.fiber);
  core.Push(pipe, std::move(entry));
}

/// The next entry of the queue of pipe.
void RandomExecutor::Execute(RandomCore& core, Pipe pipe) {
  PipeEntry entry = std::move(core.QueueOf(pipe).front());
  core.QueueOf(pipe).pop_front();
  --core.queued;
  switch (entry.kind) {
    case PipeEntry::Kind::kInstruction:
      ExecuteInstruction(core, *entry.instruction);
      spare_.push_back(std::move(entry.instruction));
      return;
    case PipeEntry::Kind::kSetFlag:
      ++core.FlagOf(pipe, entry.other, entry.id);
      return;
    case PipeEntry::Kind::kWaitFlag:
      --core.FlagOf(entry.other, pipe, entry.id);
      return;
    case PipeEntry::Kind::kWaitCrossCore:
      flags_.TryTake(core.slot.core, entry.id);
      return;
    case PipeEntry::Kind::kSetCrossCore:
      break;
  }
  Core& now = core.slot.core;
  const uint64_t number = std::exchange(now.instruction, entry.number);
  current_core = &now;
  try {
    std::vector<CoreSlot*> woken;  // nobody waits there
    flags_.Set(now, entry.scope, entry.id, woken);
  } catch (const Fault& fault) {
    Stop(NPU_ERROR_KERNEL_FAULT, fault.what());
  }
  current_core = nullptr;
  now.instruction = number;
}

void RandomExecutor::ExecuteInstruction(RandomCore& core, SuspendedInstruction& instruction) {
  Core& now = core.slot.core;
  text_.core = now;
  text_.image.Take(core.fiber);
  now = instruction.core;
  instruction.image.PutBack(core.fiber);
  executing_ = &core;
  SwitchTo(core);
  executing_ = nullptr;
  const uint64_t unknown = now.unknown_transfers - instruction.core.unknown_transfers;
  now = text_.core;
  now.unknown_transfers += unknown;
  text_.image.PutBack(core.fiber);
}

bool RandomExecutor::BeginInstruction(Core& core, Pipe pipe, bool has_result) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return false;
  const bool in_order = has_result || KeepsTextOrder(core);
  if (in_order && executing_ == nullptr && !stopped_ && self.queued != 0) {
    self.hold = Hold::kPipes;
    Pause(self);  // nobody is told: the instruction is known already, and not yet executed
  }
  const bool is_at_once =
      pipe == Pipe::kS || in_order || (self.QueueOf(pipe).empty() && random_.Below(kAtOnce) == 0);
  if (!is_at_once) self.offered = pipe;
  Pause(self);
  const bool is_time = executing_ == &self || (!CheckStopped(self) && is_at_once);
  if (is_time) TraceRecorder::OnBegin(core);
  return is_time;
}

void RandomExecutor::EndInstruction(Core& core) {
  TraceRecorder::OnEnd(core);
  if (executing_ != nullptr) Pause(Of(core));  // for good
}

void RandomExecutor::SetFlag(Core& core, Pipe source, Pipe destination, int id) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  if (source == Pipe::kS) {
    ++self.FlagOf(source, destination, id);
  } else {
    self.Push(source, {PipeEntry::Kind::kSetFlag, destination, {}, id});
  }
}

void RandomExecutor::WaitFlag(Core& core, Pipe source, Pipe destination, int id) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  if (destination != Pipe::kS) {
    return self.Push(destination, {PipeEntry::Kind::kWaitFlag, source, {}, id});
  }
  self.held_for = source;
  self.held_id = id;
  PauseFor(self, Hold::kFlag);
  CheckStopped(self);
}

void RandomExecutor::InnerFlag(Core& core, Pipe from, Pipe to) {
  SetFlag(core, from, to, kInnerFlag);
  WaitFlag(core, from, to, kInnerFlag);
}

void RandomExecutor::AwaitPipes(Core& core) {
  RandomCore& self = Of(core);
  if (executing_ == nullptr && !stopped_ && self.queued != 0) PauseFor(self, Hold::kPipes);
}

void RandomExecutor::SetCrossCoreFlag(Core& core, Pipe pipe, FlagScope scope, int id) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  if (pipe == Pipe::kAll) AwaitPipes(core);
  if (pipe != Pipe::kS && pipe != Pipe::kAll) {
    return self.Push(pipe, {PipeEntry::Kind::kSetCrossCore, Pipe::kS, scope, id});
  }
  if (CheckStopped(self)) return;
  std::vector<CoreSlot*> woken;  // nobody waits there
  flags_.Set(core, scope, id, woken);
}

void RandomExecutor::WaitCrossCoreFlag(Core& core, Pipe pipe, int id) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  if (pipe != Pipe::kS && pipe != Pipe::kAll) {
    return self.Push(pipe, {PipeEntry::Kind::kWaitCrossCore, Pipe::kS, {}, id});
  }
  self.held_id = id;
  PauseFor(self, Hold::kCrossCore);
  CheckStopped(self);
}

void RandomExecutor::SyncAll(Core& core, SyncGroup group) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  CheckGroup(core, group, shape_, {ended_[0], ended_[1]});
  std::vector<RandomCore*>& waiting = waiting_[static_cast<int>(group)];
  waiting.push_back(&self);
  self.has_met = false;
  self.held_id = static_cast<int>(group);
  if (waiting.size() == shape_.GroupSize(group)) {
    for (RandomCore* other : waiting) other->has_met = true;
    waiting.clear();
  }
  PauseFor(self, Hold::kSyncAll);
  CheckStopped(self);
}

void RandomExecutor::Yield(Core& core, const char* where) {
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  // The poll itself is one instruction; more than that is work.
  if (core.instruction > self.slot.polled_at + 1) ++progress_;
  self.slot.polled_at = core.instruction;
  self.slot.polls = where;
  PauseFor(self, Hold::kPoll);
  CheckStopped(self);
}

// A text of nothing but flags and barriers stops nowhere else.
void RandomExecutor::Poll(Core& core) {
  if (executing_ != nullptr) return;
  RandomCore& self = Of(core);
  if (CheckStopped(self)) return;
  TraceRecorder::OnSuspend(core);
  Pause(self);
  CheckStopped(self);
}

GlobalMemory RandomExecutor::FindGlobalMemory(const char* op, const void* address) {
  return runtime::FindGlobalMemory(launch_, op, address);
}

std::byte* RandomExecutor::VectorBuffer(Core& core, uint32_t index) {
  if (!shape_.is_mix() || index >= shape_.vector_cores_per_block()) return nullptr;
  const uint32_t count = shape_.cores_per_block();
  const uint32_t task = SlotOf(core).task / count * count + 1 + index;
  return core_of_task_[task]->slot.core.scratchpad[static_cast<int>(Space::kUb)];
}

std::byte* RandomExecutor::CubeBuffer(Core& core) {
  if (!shape_.is_mix()) return nullptr;
  const uint32_t count = shape_.cores_per_block();
  const uint32_t task = SlotOf(core).task / count * count;
  return core_of_task_[task]->slot.core.scratchpad[static_cast<int>(Space::kL1)];
}

}  // namespace npu::runtime
