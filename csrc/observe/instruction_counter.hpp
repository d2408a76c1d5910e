// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/core.hpp"
#include "npu/observer.hpp"

namespace npu {

/// Counts executed instructions and their elements by name, over all launches that start while it
/// is on.
class InstructionCounter final : public InstructionObserver {
 public:
  struct Count {
    uint64_t executions = 0;
    uint64_t elements = 0;
  };

  /// Forgets what was counted and counts from now on.
  static void Start();
  static void Stop();
  /// The counter while it is on, else null.
  static InstructionObserver* Active();
  static Count Get(const char* name);

  void OnInstruction(const Core& core, const Instruction& instruction) override;
  void OnSetFlag(const Core&, Pipe, Pipe, int, const void*) override { Add("set_flag", 0); }
  void OnWaitFlag(const Core&, Pipe, Pipe, int, const void*) override { Add("wait_flag", 0); }
  void OnBarrier(const Core&, Pipe, const void*) override { Add("pipe_barrier", 0); }
  void OnSetCrossCoreFlag(const Core&, Pipe, FlagScope scope, int, const void*) override {
    Add(NameOfSet(scope), 0);
  }
  void OnWaitCrossCoreFlag(const Core&, Pipe, int id, const void*) override {
    Add(id < kIntraBlockFlag ? "wait_flag_dev" : "wait_intra_block", 0);
  }
  void OnArrive(const Core&, const SyncPoint&, const void*) override { Add("SYNCALL", 0); }

 private:
  void Add(const char* name, uint64_t elements);
};

}  // namespace npu
