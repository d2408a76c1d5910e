// SPDX-License-Identifier: Apache-2.0
#include "observe/active_observer.hpp"

#include <array>

#include "npu/core.hpp"
#include "observe/hazard_checker.hpp"
#include "observe/instruction_counter.hpp"
#include "observe/memory_map.hpp"
#include "observe/step_recorder.hpp"
#include "observe/trace_recorder.hpp"

namespace npu {
namespace {

std::array<InstructionObserver*, 5> Active(bool in_order) {
  return {InstructionCounter::Active(), MemoryMap::Active(), StepRecorder::Active(),
          TraceRecorder::Active(), in_order ? HazardChecker::Active() : nullptr};
}

/// Passes on to all that are on at the time of the call.
class Everyone final : public InstructionObserver {
 public:
  explicit Everyone(bool in_order) : in_order_(in_order) {}

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
  void OnInnerFlag(const Core& core, Pipe from, Pipe to) override {
    ForEach([&](InstructionObserver& each) { each.OnInnerFlag(core, from, to); });
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
  void ForEach(const Call& call) {
    for (InstructionObserver* to : Active(in_order_)) {
      if (to != nullptr) call(*to);
    }
  }

  const bool in_order_;
};

}  // namespace

InstructionObserver* ActiveObserver(bool in_order) {
  // They outlive static destructors.
  static auto* const everyone = new Everyone(false);
  static auto* const everyone_in_order = new Everyone(true);
  InstructionObserver* only = nullptr;
  for (InstructionObserver* active : Active(in_order)) {
    if (active == nullptr) continue;
    if (only != nullptr) return in_order ? everyone_in_order : everyone;
    only = active;
  }
  return only;
}

}  // namespace npu
