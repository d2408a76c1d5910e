// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/core.hpp"
#include "npu/observer.hpp"

namespace npu {

/// Records what the cores of one block do, in the order of their text: instructions, flags,
/// barriers. Of each kernel the first execution of the block counts.
class StepRecorder final : public InstructionObserver {
 public:
  static constexpr size_t kMostSteps = 10'000;  // that are recorded

  enum class Kind : uint8_t {
    kInstruction,
    kSetFlag,
    kWaitFlag,
    kBarrier,
    kSetCrossCoreFlag,
    kWaitCrossCoreFlag,
    kMeet
  };
  struct Step {
    Kind kind;
    const char* name;
    const char* kernel;
    CoreType core;
    uint32_t sub_block;
    Pipe pipe;         // of a flag: its source
    Pipe destination;  // of a flag within a core
    int id;            // of a flag
    const void* call_site;
  };

  /// Forgets what was recorded and records what block does from now on.
  static void Start(uint32_t block);
  static void Stop();
  /// The recorder while it is on, else null.
  static InstructionObserver* Active();
  static size_t Count();
  /// False when there is none with that index.
  static bool Get(size_t index, Step* step);

  void OnInstruction(const Core& core, const Instruction& instruction) override;
  void OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                 const void* call_site) override;
  void OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id,
                  const void* call_site) override;
  void OnBarrier(const Core& core, Pipe pipe, const void* call_site) override;
  void OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                          const void* call_site) override;
  void OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id, const void* call_site) override;
  void OnArrive(const Core& core, const SyncPoint& point, const void* call_site) override;
  void OnKernelEnd(const Core& core) override;
};

}  // namespace npu
