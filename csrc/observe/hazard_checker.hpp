// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "npu/core.hpp"
#include "npu/observer.hpp"
#include "observe/hazard_launch.hpp"

namespace npu {

/// Looks for accesses of a launch that nothing orders, and for what else a chip would punish, in
/// all launches that start while it is on. Findings go to HazardFindings.
class HazardChecker final : public InstructionObserver {
 public:
  /// Forgets findings and looks for kinds, a sum of HazardKinds, from now on.
  static void Start(uint32_t kinds);
  static void Stop();
  /// The checker while it is on, else null.
  static InstructionObserver* Active();

  /// A launch of this thread, from before its first core begins until all have ended. Nothing while
  /// the checker is off.
  class Launch {
   public:
    explicit Launch(const HazardLaunchFacts& facts);
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    /// All cores have run to their end.
    void End();

    /// Findings that no launch had made before, and the index of the first.
    size_t new_findings() const { return hazards_ == nullptr ? 0 : hazards_->new_findings(); }
    size_t first_finding() const { return hazards_->first_finding(); }

   private:
    std::unique_ptr<LaunchHazards> hazards_;
  };

  void OnInstruction(const Core& core, const Instruction& instruction) override;
  void OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                 const void* call_site) override;
  void OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id,
                  const void* call_site) override;
  void OnBarrier(const Core& core, Pipe pipe, const void* call_site) override;
  void OnInnerFlag(const Core& core, Pipe from, Pipe to) override;
  void OnKernelEnd(const Core& core) override;
  void OnPlacement(const Core& core, const Placement& placement) override;
  void OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                          const void* call_site) override;
  void OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id, const void* call_site) override;
  void OnArrive(const Core& core, const SyncPoint& point, const void* call_site) override;
  void OnLeave(const Core& core, const SyncPoint& point, const void* call_site) override;
};

}  // namespace npu
