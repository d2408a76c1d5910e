// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_scheduler.hpp"

#include <utility>

#include "npu/error.hpp"
#include "npu/observer.hpp"
#include "runtime/environment.hpp"
#include "runtime/global_memory.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/launch_aborted.hpp"

namespace npu::runtime {
namespace {

// A pointer without destructor: work may still run on this thread after its thread-local objects
// are gone.
__thread LaunchScheduler* thread_scheduler = nullptr;

struct SchedulerOwner {
  ~SchedulerOwner() { delete std::exchange(thread_scheduler, nullptr); }
};
thread_local SchedulerOwner scheduler_owner;

constexpr uint32_t kTasksPerPoll = 16;

}  // namespace

LaunchScheduler& LaunchScheduler::OfThisThread() {
  if (thread_scheduler == nullptr) {
    static_cast<void>(&scheduler_owner);  // constructs it
    thread_scheduler = new LaunchScheduler;
    InstallTerminateHandler();
  }
  return *thread_scheduler;
}

LaunchScheduler::~LaunchScheduler() = default;

Status LaunchScheduler::Run(const Launch& launch, InstructionObserver* observer) {
  Reset(launch, observer);
  Fiber* fiber = nullptr;
  try {
    fiber = IdleFiber();
  } catch (const std::bad_alloc&) {
    return {NPU_ERROR_OUT_OF_MEMORY, std::string(launch.kernel->name) +
                                         ": expected memory of the host for a stack, got none"};
  }
  const TaskScope in_task;
  Core* const host_core = std::exchange(*current_core_, nullptr);  // or none
  running_ = &main_;
  while (fiber != nullptr) {
    SwitchTo(*fiber);
    fiber = std::exchange(interrupt_poller_, nullptr);
    // Signal handlers of an interpreter run here, on a stack of full size.
    if (fiber != nullptr) interrupted_ = PollInterrupt();
  }
  for (Fiber* fiber : abandoned_fibers_) {
    std::erase_if(fibers_, [fiber](const auto& owned) { return owned.get() == fiber; });
  }
  abandoned_fibers_.clear();
  GiveReserved();
  *current_core_ = host_core;
  return std::exchange(result_, {});
}

void LaunchScheduler::Reset(const Launch& launch, InstructionObserver* observer) {
  const Environment& environment = GetEnvironment();
  launch_ = &launch;
  observer_ = observer;
  arch_ = environment.arch;
  shape_.blocks = launch.block_dim;
  shape_.has_cube = launch.kernel->cube != nullptr;
  shape_.has_vector = launch.kernel->vector != nullptr;
  core_limit_[static_cast<int>(CoreType::kVector)] = static_cast<uint32_t>(arch_->vector_cores);
  core_limit_[static_cast<int>(CoreType::kCube)] = static_cast<uint32_t>(arch_->cube_cores);
  ++serial_;
  check_limits_ = environment.check_limits;
  next_task_ = next_mixed_block_ = next_index_ = 0;
  stopped_ = false;
  interrupted_ = false;
  progress_ = 1;
  spin_.Reset();
  ready_ = {};
  polling_ = {};
  blocked_.clear();
  flags_.Reset(shape_);
  slot_of_task_.clear();
  tasks_ = shape_.tasks();
  is_mix_ = shape_.is_mix();
  if (is_mix_) slot_of_task_.resize(tasks_);
  cores_per_block_ = shape_.cores_per_block();
  args_ = launch.args.data();
  const auto entry = [](const npuKernelPass* pass) {
    return pass != nullptr ? pass->run : nullptr;
  };
  passes_[static_cast<int>(CoreType::kVector)] = entry(launch.kernel->vector);
  passes_[static_cast<int>(CoreType::kCube)] = entry(launch.kernel->cube);
  for (Barrier& barrier : barriers_) barrier = {};
  for (int type = 0; type < 2; ++type) live_[type] = 0;
}

void LaunchScheduler::RunFiber(void* scheduler) {
  auto* self = static_cast<LaunchScheduler*>(scheduler);
  for (;;) {
    self->RunTasks();
    self->idle_fibers_.push_back(self->running_);  // has room since the fiber was made
    Fiber* next = self->Next();
    if (next == nullptr && !self->blocked_.empty()) {
      self->StopDeadlocked("every core waits");
      next = self->Next();
    }
    self->SwitchTo(next != nullptr ? *next : self->main_);
  }
}

void LaunchScheduler::RunTasks() {
  while (ready_.empty() && CanStart()) {
    CoreSlot* slot = TakeSlot();
    if (slot == nullptr) return;
    RunPasses(*slot);
    GiveSlot(*slot);
  }
}

CoreSlot* LaunchScheduler::TakeSlot() {
  CoreSlot* slot = nullptr;
  try {
    slot = NextIsReserved() ? slot_of_task_[next_task_] : cores_.Take(NextType(), *arch_);
  } catch (const std::bad_alloc&) {
    Stop(NPU_ERROR_OUT_OF_MEMORY,
         std::string(launch_->kernel->name) + ": expected memory of the host for a core, got none");
    return nullptr;
  }
  if (slot->launch != serial_) DescribeLaunch(*slot);
  slot->fiber = running_;
  slot->aborts = 0;
  ++live_[static_cast<int>(slot->core.type)];
  *current_core_ = &slot->core;
  return slot;
}

void LaunchScheduler::GiveSlot(CoreSlot& slot) {
  ++progress_;
  --live_[static_cast<int>(slot.core.type)];
  *current_core_ = nullptr;
  if (slot.core.unknown_transfers != 0) {
    AddUnknownTransfers(std::exchange(slot.core.unknown_transfers, 0));
  }
  cores_.Give(&slot);
}

void LaunchScheduler::StartTask(CoreSlot& slot) {
  slot.core.block_idx = NextBlock();
  slot.task = next_task_++;
  if (!is_mix_) return;
  slot.core.sub_block_id = next_index_ > 1 ? next_index_ - 1 : 0;
  slot_of_task_[slot.task] = &slot;
  if (++next_index_ == cores_per_block_) {
    next_index_ = 0;
    ++next_mixed_block_;
  }
}

void LaunchScheduler::DescribeLaunch(CoreSlot& slot) {
  Core& core = slot.core;
  slot.launch = serial_;
  core.scheduler = this;
  core.observer = observer_;
  core.kernel = launch_->kernel->name;
  core.check_limits = check_limits_;
  core.allow_float64 = (launch_->flags & NPU_LAUNCH_FLOAT64) != 0;
  core.block_num = shape_.blocks;
  core.sub_block_id = 0;
  core.sub_block_num = is_mix_ ? 2 : 1;
  std::fill_n(core.memories, kMemoriesAtHand, GlobalMemory{});
}

GlobalMemory LaunchScheduler::FindGlobalMemory(const char* op, const void* address) {
  return runtime::FindGlobalMemory(*launch_, op, address);
}

std::byte* LaunchScheduler::VectorBuffer(Core& core, uint32_t index) {
  if (!shape_.is_mix() || index >= shape_.vector_cores_per_block()) return nullptr;
  const uint32_t task = SlotOf(core).task / cores_per_block_ * cores_per_block_ + 1 + index;
  CoreSlot*& slot = slot_of_task_[task];
  if (slot == nullptr && task >= next_task_) slot = cores_.Take(CoreType::kVector, *arch_);
  return slot == nullptr ? nullptr : slot->core.scratchpad[static_cast<int>(Space::kUb)];
}

std::byte* LaunchScheduler::CubeBuffer(Core& core) {
  if (!shape_.is_mix()) return nullptr;
  const uint32_t task = SlotOf(core).task / cores_per_block_ * cores_per_block_;
  const CoreSlot* slot = slot_of_task_[task];  // starts before the vector cores of its block
  return slot == nullptr ? nullptr : slot->core.scratchpad[static_cast<int>(Space::kL1)];
}

uint32_t LaunchScheduler::CoreId(Core& core) {
  core.has_state = true;
  return core_ids_.Of(SlotOf(core));
}

void LaunchScheduler::GiveReserved() {
  for (size_t task = next_task_; task < slot_of_task_.size(); ++task) {
    if (CoreSlot* slot = std::exchange(slot_of_task_[task], nullptr)) cores_.Give(slot);
  }
}

void LaunchScheduler::RunPasses(CoreSlot& slot) {
  const auto run = passes_[static_cast<int>(slot.core.type)];
  try {
    do {
      StartTask(slot);
      run(args_);
      if (observer_ != nullptr) observer_->OnKernelEnd(slot.core);
      if (next_task_ % kTasksPerPoll == 0) [[unlikely]]
        Poll(slot.core);
      EndTask(slot);
    } while (GoesOn(slot));
    return;
  } catch (const LaunchAborted&) {
  } catch (const Fault& fault) {
    if (!stopped_) Stop(NPU_ERROR_KERNEL_FAULT, fault.what() + fault_place_.Describe(slot.core));
  } catch (...) {
    Stop(NPU_ERROR_KERNEL_FAULT,
         std::string(Where(slot.core).c_str()) + ": " + DescribeException("the kernel"));
  }
  EndTask(slot);
}

void LaunchScheduler::ClearState(CoreSlot& slot) {
  Core& core = slot.core;
  runtime::ClearState(core);
  TakeBlocksBack(core);
  slot.polled_at = 0;
  core_ids_.TakeBack(slot);
}

Fiber* LaunchScheduler::IdleFiber() {
  if (idle_fibers_.empty()) {
    fibers_.reserve(fibers_.size() + 1);
    idle_fibers_.reserve(fibers_.size() + 1);
    fibers_.push_back(std::make_unique<Fiber>(&LaunchScheduler::RunFiber, this));
    return fibers_.back().get();
  }
  Fiber* fiber = idle_fibers_.back();
  idle_fibers_.pop_back();
  return fiber;
}

Fiber* LaunchScheduler::Next() {
  if (ready_.empty() && CanStart()) {
    try {
      return IdleFiber();
    } catch (const std::bad_alloc&) {
      Stop(NPU_ERROR_OUT_OF_MEMORY, std::string(launch_->kernel->name) +
                                        ": expected memory of the host for a stack, got none");
    }
  }
  if (!ready_.empty()) return ready_.Pop()->fiber;
  return polling_.empty() ? nullptr : polling_.Pop()->fiber;
}

void LaunchScheduler::SwitchTo(Fiber& to) {
  Fiber& from = *running_;
  if (&from == &to) return;
  running_ = &to;
  Fiber::Switch(from, to);
}

void LaunchScheduler::Suspend(CoreSlot& slot) {
  if (observer_ != nullptr) TraceRecorder::OnSuspend(slot.core);
  Fiber* next = Next();
  if (next == nullptr) {
    StopDeadlocked("every core waits");
    next = Next();
  }
  SwitchTo(*next);
  *current_core_ = &slot.core;
  slot.wait = Wait::kNothing;
  CheckStopped(slot);
}

void LaunchScheduler::Block(CoreSlot& slot, Wait wait) {
  slot.wait = wait;
  slot.blocked_index = static_cast<uint32_t>(blocked_.size());
  blocked_.push_back(&slot);
  ++progress_;
  Suspend(slot);
}

void LaunchScheduler::Wake(CoreSlot& slot) {
  blocked_.back()->blocked_index = slot.blocked_index;
  blocked_[slot.blocked_index] = blocked_.back();
  blocked_.pop_back();
  ready_.Push(&slot);
}

void LaunchScheduler::SetCrossCoreFlag(Core& core, Pipe, FlagScope scope, int id) {
  if (CheckStopped(SlotOf(core))) return;
  flags_.Set(core, scope, id, woken_);
  ++progress_;
  for (CoreSlot* slot : woken_) Wake(*slot);
  woken_.clear();
}

void LaunchScheduler::WaitCrossCoreFlag(Core& core, Pipe, int id) {
  CoreSlot& slot = SlotOf(core);
  if (CheckStopped(slot)) return;
  while (!flags_.TryTake(core, id)) {
    flags_.Await(core, id);
    Block(slot, Wait::kFlag);
    if (stopped_) return;
  }
}

void LaunchScheduler::SyncAll(Core& core, SyncGroup group) {
  CoreSlot& slot = SlotOf(core);
  if (CheckStopped(slot)) return;
  CheckGroup(core, group, shape_, {Ended(CoreType::kVector), Ended(CoreType::kCube)});
  Barrier& barrier = barriers_[static_cast<int>(group)];
  ++progress_;
  if (++barrier.arrived < shape_.GroupSize(group)) {
    barrier.waiting.Push(&slot);
    slot.wait_id = static_cast<int>(group);
    return Block(slot, Wait::kSyncAll);
  }
  barrier.arrived = 0;
  while (!barrier.waiting.empty()) Wake(*barrier.waiting.Pop());
}

void LaunchScheduler::Yield(Core& core, const char* where) {
  CoreSlot& slot = SlotOf(core);
  Poll(core);
  if (stopped_) return;
  // The poll itself is one instruction; more than that is work.
  if (core.instruction > slot.polled_at + 1) ++progress_;
  slot.polled_at = core.instruction;
  slot.polls = where;
  slot.wait = Wait::kPoll;
  if (ready_.empty() && !CanStart()) CheckSpin(slot);
  if (stopped_) return;
  polling_.Push(&slot);
  Suspend(slot);
}

void LaunchScheduler::Poll(Core& core) {
  CoreSlot& slot = SlotOf(core);
  if (CheckStopped(slot)) return;
  if (InterruptPollDue()) {
    interrupt_poller_ = running_;
    SwitchTo(main_);
    *current_core_ = &core;
  }
  if (!interrupted_ && !AbortScope::Requested()) return;
  Stop(NPU_ERROR_INTERRUPTED, std::string(Where(core).c_str()) +
                                  ": expected the kernel to run to its end, got an interrupt");
  CheckStopped(slot);
}

}  // namespace npu::runtime
