// SPDX-License-Identifier: Apache-2.0
#include "observe/active_observer.hpp"

#include <initializer_list>

#include "npu/core.hpp"
#include "observe/hazard_checker.hpp"
#include "observe/instruction_counter.hpp"
#include "observe/memory_map.hpp"
#include "observe/step_recorder.hpp"

namespace npu {
namespace {

/// Passes on to all that are on at the time of the call.
class Everyone final : public InstructionObserver {
 public:
  void OnInstruction(const Core& core, const Instruction& instruction) override {
    ForEach([&](InstructionObserver& to) { to.OnInstruction(core, instruction); });
  }
  void OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                 const void* call_site) override {
    ForEach(
        [&](InstructionObserver& to) { to.OnSetFlag(core, source, destination, id, call_site); });
  }
  void OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id,
                  const void* call_site) override {
    ForEach(
        [&](InstructionObserver& to) { to.OnWaitFlag(core, source, destination, id, call_site); });
  }
  void OnBarrier(const Core& core, Pipe pipe, const void* call_site) override {
    ForEach([&](InstructionObserver& to) { to.OnBarrier(core, pipe, call_site); });
  }
  void OnKernelEnd(const Core& core) override {
    ForEach([&](InstructionObserver& to) { to.OnKernelEnd(core); });
  }
  void OnPlacement(const Core& core, const Placement& placement) override {
    ForEach([&](InstructionObserver& to) { to.OnPlacement(core, placement); });
  }
  void OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                          const void* call_site) override {
    ForEach(
        [&](InstructionObserver& to) { to.OnSetCrossCoreFlag(core, pipe, scope, id, call_site); });
  }
  void OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id, const void* call_site) override {
    ForEach([&](InstructionObserver& to) { to.OnWaitCrossCoreFlag(core, pipe, id, call_site); });
  }
  void OnArrive(const Core& core, const SyncPoint& point, const void* call_site) override {
    ForEach([&](InstructionObserver& to) { to.OnArrive(core, point, call_site); });
  }
  void OnLeave(const Core& core, const SyncPoint& point, const void* call_site) override {
    ForEach([&](InstructionObserver& to) { to.OnLeave(core, point, call_site); });
  }

 private:
  template <class Call>
  static void ForEach(const Call& call) {
    for (InstructionObserver* to : {InstructionCounter::Active(), MemoryMap::Active(),
                                    HazardChecker::Active(), StepRecorder::Active()}) {
      if (to != nullptr) call(*to);
    }
  }
};

}  // namespace

InstructionObserver* ActiveObserver() {
  static auto* const everyone = new Everyone;  // outlives static destructors
  InstructionObserver* only = nullptr;
  for (InstructionObserver* active : {InstructionCounter::Active(), MemoryMap::Active(),
                                      HazardChecker::Active(), StepRecorder::Active()}) {
    if (active != nullptr) {
      if (only != nullptr) return everyone;
      only = active;
    }
  }
  return only;
}

}  // namespace npu
