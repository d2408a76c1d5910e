// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "npu/access_list.hpp"
#include "npu/core.hpp"
#include "npu/error.hpp"
#include "npu/observer.hpp"

namespace npu {

/// The core that runs the calling kernel; outside of one a fault, or the core of host code.
inline Core& RunningCore(const char* op) {
  Core* core = current_core;
  if (__builtin_expect(core == nullptr, 0)) return CoreOfHostCode(op);
  return *core;
}

/// The same core, which from here on keeps something that must not reach the next block.
inline Core& CoreToClear(const char* op) {
  Core& core = RunningCore(op);
  core.has_state = true;
  return core;
}

/// Counts one instruction, and every kPollInterval of them looks for an interrupt.
inline void CountInstruction(Core& core) {
  if (__builtin_expect(++core.instruction % kPollInterval == 0, 0)) core.scheduler->Poll(core);
}

/// While it lives, faults name the instruction that comes next: for checks of its own that a form
/// of an instruction makes before it issues.
class NextInstruction {
 public:
  explicit NextInstruction(const char* op) : core_(RunningCore(op)) { ++core_.instruction; }
  ~NextInstruction() { --core_.instruction; }
  NextInstruction(const NextInstruction&) = delete;
  NextInstruction& operator=(const NextInstruction&) = delete;

 private:
  Core& core_;
};

/// Stands behind the call of an instruction's out-of-line body. Without it the last call of a
/// kernel becomes a jump, and the return address that names the line of the call is the caller's.
[[gnu::always_inline]] inline void KeepCallSite() { asm volatile(""); }

/// The one door through which an instruction passes. operands(report) calls report(work,
/// operands...), each as AccessList::AddOperand takes it, and is evaluated only when somebody
/// listens; execute does the work. has_result: execute also writes to variables of the kernel,
/// which has waited for pipe when this returns.
template <class Operands, class Execute>
inline void Issue(const char* name, Pipe pipe, const void* call_site, Operands&& operands,
                  Execute&& execute, bool has_result = false) {
  Core& core = RunningCore(name);
  CountInstruction(core);
  const bool is_observed = core.observer != nullptr;
  if (__builtin_expect(is_observed, 0)) {
    operands([&](const Work& work, const auto&... accesses) {
      AccessList list;
      (list.AddOperand(accesses), ...);
      core.observer->OnInstruction(core, {name, pipe, call_site, work, list.begin(), list.size()});
    });
    if (!core.scheduler->BeginInstruction(core, pipe, has_result)) return;
  }
  std::forward<Execute>(execute)();
  if (__builtin_expect(is_observed, 0)) core.scheduler->EndInstruction(core);
}

/// Tells of an access of the scalar pipe to element, which goes through no door of its own.
NPU_ONE_BODY(__attribute__((cold)) void ReportScalar(const char* name, const Access& element)) {
  const void* call_site = __builtin_return_address(0);
  Core& core = *current_core;
  core.observer->OnInstruction(core, {name, Pipe::kS, call_site, {1, 0, 0}, &element, 1});
}

/// Whether somebody looks at what the scalar pipe does.
inline bool IsObserved() {
  const Core* core = current_core;
  return __builtin_expect(core != nullptr && core->observer != nullptr, 0);
}

}  // namespace npu
