// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "runtime/status.hpp"

namespace npu::runtime {

/// What this process has to do with the device. A fork copies neither threads nor the state of
/// locks, so the child of a process that used the device must not touch it.
enum class ProcessState : int { kFresh, kUsed, kForked };
extern std::atomic<ProcessState> process_state;

/// Error of a call in a forked child or under a wrong environment; NPU_SUCCESS otherwise.
/// mark_used: from now on the process counts as a user of the device.
npuError_t CheckProcess(const char* function, bool mark_used);

/// Runs body as a function of the C ABI that uses the device.
template <class Body>
npuError_t Using(const char* function, Body&& body) {
  if (process_state.load(std::memory_order_acquire) != ProcessState::kUsed) [[unlikely]] {
    const npuError_t error = Bounded(function, [&] { return CheckProcess(function, true); });
    if (error != NPU_SUCCESS) return error;
  }
  return Bounded(function, body);
}

/// Runs body as a function of the C ABI that only asks or sets something; a later fork does no
/// harm.
template <class Body>
npuError_t Asking(const char* function, Body&& body) {
  const npuError_t error = Bounded(function, [&] { return CheckProcess(function, false); });
  return error != NPU_SUCCESS ? error : Bounded(function, body);
}

}  // namespace npu::runtime
