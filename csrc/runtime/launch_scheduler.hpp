// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "npu/core.hpp"
#include "observe/trace_recorder.hpp"
#include "runtime/core_slot.hpp"
#include "runtime/cross_core_flags.hpp"
#include "runtime/fiber.hpp"
#include "runtime/kernel_end.hpp"
#include "runtime/launch.hpp"
#include "runtime/signal_fault.hpp"
#include "runtime/spin_watch.hpp"
#include "runtime/status.hpp"

namespace npu::runtime {

/// Runs launches on one thread, each core of a block as a fiber. A fiber runs task after task; only
/// when a core has to wait is another fiber taken, so a kernel without cross-core waits costs one
/// pair of switches. At most as many cores run at a time as the chip has. The order is a function
/// of the launch alone.
class LaunchScheduler final : public CoreScheduler, public TerminationTaker, private SignalTaker {
 public:
  LaunchScheduler() = default;
  ~LaunchScheduler();

  /// The scheduler of the calling thread.
  static LaunchScheduler& OfThisThread();

  /// Runs launch to its end. The first fault stops all its cores.
  Status Run(const Launch& launch, InstructionObserver* observer);

  void SetCrossCoreFlag(Core& core, Pipe pipe, FlagScope scope, int id) override;
  void WaitCrossCoreFlag(Core& core, Pipe pipe, int id) override;
  void SyncAll(Core& core, SyncGroup group) override;
  void Yield(Core& core, const char* where) override;
  void Poll(Core& core) override;
  GlobalMemory FindGlobalMemory(const char* op, const void* address) override;
  std::byte* VectorBuffer(Core& core, uint32_t index) override;
  std::byte* CubeBuffer(Core& core) override;
  uint32_t CoreId(Core& core) override;
  void OnFault(Core& core) override { fault_place_.Note(core); }
  bool BeginInstruction(Core& core, Pipe, bool) override {
    TraceRecorder::OnBegin(core);
    return true;
  }
  void EndInstruction(Core& core) override { TraceRecorder::OnEnd(core); }

 private:
  static constexpr int kSyncGroups = 3;

  struct Barrier {
    uint32_t arrived = 0;
    SlotQueue waiting;
  };

  static void RunFiber(void* scheduler);

  void Reset(const Launch& launch, InstructionObserver* observer);
  CoreType NextType() const {
    return shape_.has_cube && next_index_ == 0 ? CoreType::kCube : CoreType::kVector;
  }
  uint32_t NextBlock() const { return is_mix_ ? next_mixed_block_ : next_task_; }
  bool CanStart() const {
    if (stopped_ || next_task_ == tasks_) return false;
    const int type = static_cast<int>(NextType());
    return live_[type] < core_limit_[type];
  }
  void RunTasks();
  /// Runs the next task on slot, and those behind it as long as they need such a core and nobody
  /// waits to go on.
  void RunPasses(CoreSlot& slot);
  bool GoesOn(const CoreSlot& slot) const {
    if (!ready_.empty() || stopped_ || next_task_ == tasks_) return false;
    return !is_mix_ || (NextType() == slot.core.type && !NextIsReserved());
  }
  /// Takes back the cores that VectorBuffer gave to tasks which never started.
  void GiveReserved();
  bool NextIsReserved() const { return is_mix_ && slot_of_task_[next_task_] != nullptr; }
  /// A core for the next task, and for those of its kind behind it; null when the host has no
  /// memory.
  CoreSlot* TakeSlot();
  void GiveSlot(CoreSlot& slot);
  void DescribeLaunch(CoreSlot& slot);
  void StartTask(CoreSlot& slot);
  void EndTask(CoreSlot& slot) {
    if (is_mix_) slot_of_task_[slot.task] = nullptr;
    if (slot.core.instruction != 0 || slot.core.has_state) ClearState(slot);
    if (!blocked_.empty() && !stopped_) [[unlikely]]
      StopIfAwaited(slot.core);
  }
  /// What a task has left on its core, flags and registers.
  [[gnu::noinline]] void ClearState(CoreSlot& slot);

  /// The fiber to run next: a core that may go on, a new block, a core that polls. Null when there
  /// is none.
  Fiber* Next();
  Fiber* IdleFiber();
  void SwitchTo(Fiber& to);
  /// Lets others run until slot may go on.
  void Suspend(CoreSlot& slot);
  void Block(CoreSlot& slot, Wait wait);
  void Wake(CoreSlot& slot);

  /// Tasks on cores of type that have ended.
  uint32_t Ended(CoreType type) const;

  /// Ends the launch: every suspended core is resumed to unwind.
  void Stop(npuError_t code, std::string message);
  /// Stops when cores wait at a SYNCALL that core, which has ended, cannot reach any more.
  void StopIfAwaited(const Core& core);
  void StopDeadlocked(const std::string& reason);
  /// Unwinds the core if the launch has stopped. True when it has and an exception is on its way
  /// already: the call comes from a destructor, which must not throw, and has to return at once.
  bool CheckStopped(CoreSlot& slot);
  void CheckSpin(CoreSlot& slot);
  /// Leaves the fiber of slot for good; its stack is never run again.
  [[noreturn]] void Abandon(CoreSlot& slot);
  [[noreturn]] void AbandonTerminated() override;
  bool TakeSignal(const SignalFault& fault, char** stack) noexcept override;
  [[noreturn]] void OnSignalFault() override;

  std::string DescribeWaits() const;
  std::string Describe(const CoreSlot& slot) const;

  // The launch.
  const Launch* launch_ = nullptr;
  InstructionObserver* observer_ = nullptr;
  LaunchShape shape_;
  const Arch* arch_ = nullptr;
  uint32_t core_limit_[2] = {};          // by CoreType
  void (*passes_[2])(const void*) = {};  // by CoreType
  const void* args_ = nullptr;
  uint64_t serial_ = 0;
  uint32_t cores_per_block_ = 1;
  bool is_mix_ = false;
  bool check_limits_ = true;
  uint32_t next_task_ = 0;
  uint32_t tasks_ = 0;
  uint32_t next_mixed_block_ = 0;  // of next_task_
  uint32_t next_index_ = 0;        // of next_task_ in its block
  uint32_t live_[2] = {};          // tasks that have started and not ended
  CoreIds core_ids_;
  bool stopped_ = false;
  Status result_;

  // Who can run and who cannot.
  SlotQueue ready_;
  SlotQueue polling_;
  std::vector<CoreSlot*> slot_of_task_;  // of a mixed kernel: cores that run or are reserved
  std::vector<CoreSlot*> blocked_;
  std::vector<CoreSlot*> woken_;
  CrossCoreFlags flags_;
  Barrier barriers_[kSyncGroups];

  // Search for spins without progress.
  uint64_t progress_ = 0;  // beside tasks that start
  SpinWatch spin_;

  // Stacks and cores, kept from launch to launch.
  Fiber main_;
  Fiber* running_ = nullptr;
  Fiber* interrupt_poller_ = nullptr;  // waits for main_ to ask for an interrupt
  bool interrupted_ = false;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_fibers_;
  std::vector<Fiber*> abandoned_fibers_;
  CorePool cores_;
  FaultPlace fault_place_;
  SignalFault signal_fault_;  // number is 0 unless one is being handled
  const SignalScope signals_{this};
  Core** const current_core_ = &current_core;  // of the thread that owns all this
};

}  // namespace npu::runtime
