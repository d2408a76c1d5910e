// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "npu/core.hpp"
#include "npu/observer.hpp"
#include "runtime/cross_core_flags.hpp"
#include "runtime/fiber.hpp"
#include "runtime/kernel_end.hpp"
#include "runtime/launch.hpp"
#include "runtime/random_core.hpp"
#include "runtime/random_order.hpp"
#include "runtime/signal_fault.hpp"
#include "runtime/spin_watch.hpp"
#include "runtime/status.hpp"

namespace npu::runtime {

/// Runs one launch on one thread in a random order that its flags allow. The text of each core runs
/// on a fiber; instructions of all pipes but S are queued there, each with a copy of the stack, and
/// are executed when chance says so, pipe by pipe in the order of the queue. Chance also says which
/// block starts next and which core goes on.
class RandomExecutor final : public CoreScheduler, public TerminationTaker, private SignalTaker {
 public:
  RandomExecutor(const Launch& launch, uint64_t seed, InstructionObserver* observer);
  ~RandomExecutor();

  Status Run();

  bool BeginInstruction(Core& core, Pipe pipe, bool has_result) override;
  void EndInstruction(Core& core) override;
  void SetFlag(Core& core, Pipe source, Pipe destination, int id) override;
  void WaitFlag(Core& core, Pipe source, Pipe destination, int id) override;
  void InnerFlag(Core& core, Pipe from, Pipe to) override;
  void AwaitPipes(Core& core) override;
  void SetCrossCoreFlag(Core& core, Pipe pipe, FlagScope scope, int id) override;
  void WaitCrossCoreFlag(Core& core, Pipe pipe, int id) override;
  void SyncAll(Core& core, SyncGroup group) override;
  void Yield(Core& core, const char* where) override;
  void Poll(Core& core) override;
  GlobalMemory FindGlobalMemory(const char* op, const void* address) override;
  std::byte* VectorBuffer(Core& core, uint32_t index) override;
  std::byte* CubeBuffer(Core& core) override;
  uint32_t CoreId(Core& core) override { return core_ids_.Of(SlotOf(core)); }
  void OnFault(Core& core) override { fault_place_.Note(core); }

 private:
  /// A core's dispatch or one of its pipes, which may go on.
  struct Choice {
    RandomCore* core;
    int pipe;
    uint64_t weight;
  };

  RandomCore& Of(Core& core) { return *core_of_task_[SlotOf(core).task]; }

  // Blocks.
  bool CanStart() const;
  /// Starts a block that has not run, whichever.
  void StartBlock();
  RandomCore& TakeCore(uint32_t task);
  void EndFinished();
  void End(RandomCore& core);

  // What comes next.
  void Step();
  void Collect(bool with_stragglers);
  void Add(RandomCore& core, int pipe);
  bool CanDispatch(const RandomCore& core, bool with_stragglers) const;
  bool CanExecute(RandomCore& core, Pipe pipe) const;
  void Reweigh(RandomCore& core);
  void LookAround();

  // Executing it.
  static void RunFiber(void* core);
  void RunKernel(RandomCore& core);
  void Dispatch(RandomCore& core);
  void Execute(RandomCore& core, Pipe pipe);
  void ExecuteInstruction(RandomCore& core, SuspendedInstruction& instruction);
  void SwitchTo(RandomCore& core);
  /// Back to the choice of what comes next; returns when this core's dispatch is that.
  void Pause(RandomCore& core);
  void PauseFor(RandomCore& core, Hold hold);

  // Ending before the time.
  void Stop(npuError_t code, std::string message);
  void StopDeadlocked();
  void CheckSpin(RandomCore& core);
  /// Unwinds the core if the launch has stopped. True when it has and an exception is on its way
  /// already, or code runs that an exception of a queued instruction led to: the call has no
  /// effect.
  bool CheckStopped(RandomCore& core);
  [[noreturn]] void Abandon(RandomCore& core);
  [[noreturn]] void AbandonTerminated() override;
  bool TakeSignal(const SignalFault& fault, char** stack) noexcept override;
  [[noreturn]] void OnSignalFault() override;
  std::string DescribeWaits() const;

  // The launch.
  const Launch& launch_;
  const LaunchShape shape_;
  InstructionObserver* observer_;
  std::vector<uint32_t> blocks_;  // those from next_block_ on have not started
  size_t next_block_ = 0;
  std::vector<RandomCore*> core_of_task_;  // those of blocks that run
  uint32_t live_[2] = {};                  // cores, by CoreType
  uint32_t ended_[2] = {};
  uint32_t live_blocks_ = 0;
  CrossCoreFlags flags_;
  std::vector<RandomCore*> waiting_[3];  // at a SYNCALL, by SyncGroup
  CoreIds core_ids_;

  // Chance.
  RandomNumbers random_;
  std::vector<Choice> choices_;
  uint64_t total_weight_ = 0;
  uint64_t steps_ = 0;

  // Cores.
  std::vector<std::unique_ptr<RandomCore>> cores_;  // that run
  std::vector<std::unique_ptr<RandomCore>> idle_;
  std::vector<std::unique_ptr<SuspendedInstruction>> spare_;
  SuspendedInstruction text_;        // where the dispatch stands while a queued instruction runs
  RandomCore* executing_ = nullptr;  // that runs a queued instruction

  bool stopped_ = false;
  Status result_;
  uint64_t progress_ = 1;
  SpinWatch spin_;
  Fiber main_;
  Fiber* running_ = &main_;
  FaultPlace fault_place_;
  SignalFault signal_fault_;  // number is 0 unless one is being handled
  const SignalScope signals_{this};
};

}  // namespace npu::runtime
