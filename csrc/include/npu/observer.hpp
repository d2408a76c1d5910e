// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/instruction.hpp"

namespace npu {

struct Core;

/// Looks on while kernels run. Calls come from the thread that runs the launch, in the order of
/// execution.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;
  virtual void OnInstruction(const Core& core, const Instruction& instruction) = 0;
  virtual void OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                         const void* call_site) = 0;
  virtual void OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id,
                          const void* call_site) = 0;
  virtual void OnBarrier(const Core& core, Pipe pipe, const void* call_site) = 0;
  virtual void OnKernelEnd(const Core& core) = 0;
};

}  // namespace npu
