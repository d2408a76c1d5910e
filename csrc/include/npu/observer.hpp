// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/instruction.hpp"

namespace npu {

struct Core;

/// A tile that was given its place on the chip, as an observer sees it. Valid during the call only.
struct Placement {
  const char* kind;   // "Vec"
  const char* dtype;  // "half"
  int rows;
  int cols;
  Space space;
  uint64_t address;  // bytes from the start of the space
  uint64_t bytes;
  const void* call_site;  // return address in the kernel
};

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
  virtual void OnPlacement(const Core&, const Placement&) {}
};

}  // namespace npu
