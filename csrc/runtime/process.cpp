// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>

#include "runtime/environment.hpp"
#include "runtime/hazard_session.hpp"

namespace npu::runtime {

std::atomic<ProcessState> process_state{ProcessState::kFresh};

namespace {

std::atomic<pid_t> user_pid{0};

void MarkChild() {
  if (process_state.load() == ProcessState::kUsed) process_state.store(ProcessState::kForked);
}

void MarkUsed() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, &MarkChild);
    user_pid.store(getpid());
    HazardSession::StartOfEnvironment();
    process_state.store(ProcessState::kUsed, std::memory_order_release);
  });
}

}  // namespace

npuError_t CheckProcess(const char* function, bool mark_used) {
  if (process_state.load(std::memory_order_acquire) == ProcessState::kForked) {
    return Fail(NPU_ERROR_FORKED,
                std::string(function) + ": expected the process that first used the device (pid " +
                    std::to_string(user_pid.load()) + "), got its forked child (pid " +
                    std::to_string(getpid()) + "); use the spawn start method");
  }
  const Environment& environment = GetEnvironment();
  if (!environment.error.empty()) return Fail(NPU_ERROR_INVALID_VALUE, environment.error);
  if (mark_used) MarkUsed();
  return NPU_SUCCESS;
}

}  // namespace npu::runtime
