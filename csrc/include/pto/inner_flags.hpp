// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/issue.hpp"
#include "pto/types.hpp"

/// Flags that instructions set and wait for by themselves.
namespace pto::detail {

/// Pipe to waits for what pipe from has begun; core has an observer.
inline void InnerFlag(npu::Core& core, npu::Pipe from, npu::Pipe to) {
  core.observer->OnInnerFlag(core, from, to);
  core.scheduler->InnerFlag(core, from, to);
}

/// The unit flag of an accumulator, by which pipes M and FIX wait for each other: a product of
/// phase Final sets it, a move of phase Final clears it, and with any phase either waits until the
/// other has. Here of the core, not of each accumulator: either waits for all that the other has
/// begun.
NPU_ONE_BODY(void TakeUnitFlag(npu::Pipe pipe, npu::Pipe other, bool is_final)) {
  npu::Core* core = npu::current_core;
  if (core == nullptr || core->observer == nullptr) return;
  if (core->unit_flag == other) InnerFlag(*core, other, pipe);
  if (!is_final) return;
  core->unit_flag = pipe;
  core->has_state = true;
}

/// Of the product that comes next.
template <AccPhase kPhase>
[[gnu::always_inline]] inline void TakeUnitFlag() {
  if constexpr (kPhase != AccPhase::Unspecified) {
    TakeUnitFlag(npu::Pipe::kM, npu::Pipe::kFix, kPhase == AccPhase::Final);
  }
}

/// Of the move out of the accumulator that comes next.
template <STPhase kPhase>
[[gnu::always_inline]] inline void TakeUnitFlag() {
  if constexpr (kPhase != STPhase::Unspecified) {
    TakeUnitFlag(npu::Pipe::kFix, npu::Pipe::kM, kPhase == STPhase::Final);
  }
}

/// The pipe of a gather from, or scatter to, a table in global memory: transfers for rows, of the
/// scalar unit for elements; on A5 the vector pipe has both.
inline npu::Pipe PipeOfTable(const char* op, bool by_rows, npu::Pipe transfers) {
  const bool is_a3 = npu::RunningCore(op).arch->generation == npu::Generation::kA3;
  return !is_a3 ? npu::Pipe::kV : by_rows ? transfers : npu::Pipe::kS;
}

/// Pipes that on A2 and A3 a gather from, or scatter to, a table in global memory waits for, and
/// that wait for it: all that touch UB but its own.
template <class Visit>
inline void ForPipesOfTable(const char* op, npu::Pipe own, const Visit& visit) {
  npu::Core& core = npu::RunningCore(op);
  if (core.observer == nullptr || core.arch->generation != npu::Generation::kA3) return;
  for (const npu::Pipe pipe : {npu::Pipe::kV, npu::Pipe::kMte2, npu::Pipe::kMte3}) {
    if (pipe != own) visit(core, pipe);
  }
}
NPU_ONE_BODY(void BeginTable(const char* op, npu::Pipe own)) {
  ForPipesOfTable(op, own, [](npu::Core& core, npu::Pipe pipe) {
    InnerFlag(core, pipe, npu::Pipe::kS);  // which hands out what comes
  });
}
NPU_ONE_BODY(void EndTable(const char* op, npu::Pipe own)) {
  ForPipesOfTable(op, own, [own](npu::Core& core, npu::Pipe pipe) { InnerFlag(core, own, pipe); });
}

}  // namespace pto::detail
