// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "observe/trace_recorder.hpp"

namespace npu {

/// What is recorded, over all launches. Calls hold its lock.
struct TraceRecords;

/// The cores of a launch that is traced. Its thread alone uses it.
class LaunchTrace {
 public:
  LaunchTrace(uint32_t number, TraceRecorder::FindMemory find_memory, const void* context)
      : number_(number), find_memory_(find_memory), context_(context) {}

  void OnInstruction(const Core& core, const Instruction& instruction);
  void OnPlacement(const Core& core, const Placement& placement);
  void OnKernelEnd(const Core& core);
  void OnSuspend(const Core& core);
  void OnBegin(const Core& core);
  void OnEnd(const Core& core);

 private:
  static constexpr size_t kNoStep = SIZE_MAX;

  using CoreKey = std::tuple<uint32_t, CoreType, uint32_t>;  // block, type, sub-block
  struct CoreState {
    std::vector<uint32_t> tiles;         // that were placed, the last one last
    std::map<uint64_t, size_t> pending;  // steps that have not ended, by number
    size_t scalar_step = kNoStep;        // of the scalar pipe, which may tell of no end
    size_t begun = kNoStep;              // that executes now
    uint64_t last_number = 0;
  };

  static CoreKey KeyOf(const Core& core) { return {core.block_idx, core.type, core.sub_block_id}; }
  TraceRecorder::Step Describe(const Core& core, const CoreState& state,
                               const Instruction& instruction) const;
  /// Finds base; false where nobody knows that all of part can be read.
  bool Locate(const Core& core, const TraceRecorder::Part& part,
              TraceRecorder::Operand* operand) const;
  void Settle(CoreState& state);

  const uint32_t number_;
  const TraceRecorder::FindMemory find_memory_;
  const void* const context_;
  std::map<CoreKey, CoreState> cores_;
};

}  // namespace npu
