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
  const char* layout;     // "ND", "DN", "NZ", "ZN", "ZZ" or "NN"
  bool is_compact;        // its elements lie in its valid region, as Access says
};

/// Looks on while kernels run. Calls come from the thread that runs the launch, in the order of
/// execution.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;
  virtual void OnInstruction(const Core& core, const Instruction& instruction) = 0;
  /// Flag id from the first pipe to the second, and the place of the call.
  virtual void OnSetFlag(const Core&, Pipe, Pipe, int, const void*) {}
  virtual void OnWaitFlag(const Core&, Pipe, Pipe, int, const void*) {}
  virtual void OnBarrier(const Core&, Pipe, const void*) {}
  /// The second pipe waits for what the first has begun, by a flag of an instruction itself.
  virtual void OnInnerFlag(const Core&, Pipe, Pipe) {}
  virtual void OnKernelEnd(const Core&) {}
  virtual void OnPlacement(const Core&, const Placement&) {}
  /// core sets flag id (of kIntraBlock from kIntraBlockFlag on) for the cores in scope, once pipe
  /// has ended its earlier instructions.
  virtual void OnSetCrossCoreFlag(const Core&, Pipe, FlagScope, int, const void*) {}
  /// A wait of core for flag id has ended; pipe is held until then.
  virtual void OnWaitCrossCoreFlag(const Core&, Pipe, int, const void*) {}
  /// core arrives at a point, where it waits for all its pipes; all that arrived leave it.
  virtual void OnArrive(const Core&, const SyncPoint&, const void*) {}
  virtual void OnLeave(const Core&, const SyncPoint&, const void*) {}
};

}  // namespace npu
