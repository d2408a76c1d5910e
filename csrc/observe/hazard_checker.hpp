// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/core.hpp"
#include "npu/observer.hpp"
#include "observe/hazard_finding.hpp"

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

  void OnInstruction(const Core&, const Instruction&) override {}
};

}  // namespace npu
