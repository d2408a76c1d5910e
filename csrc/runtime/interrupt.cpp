// SPDX-License-Identifier: Apache-2.0
#include "runtime/interrupt.hpp"

namespace npu::runtime {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int (*)(void)> interrupt_callback{nullptr};
thread_local Clock::time_point next_poll{};
thread_local const AbortScope* innermost_scope = nullptr;
thread_local ThreadRole thread_role;

}  // namespace

ThreadRole& ThisThreadRole() { return thread_role; }

void SetInterruptCallback(int (*callback)(void)) { interrupt_callback.store(callback); }

bool InterruptPollDue() {
  return interrupt_callback.load(std::memory_order_relaxed) != nullptr &&
         !thread_role.is_background && Clock::now() >= next_poll;
}

bool PollInterrupt() {
  if (!InterruptPollDue()) return false;
  int (*callback)(void) = interrupt_callback.load();
  if (callback == nullptr) return false;
  const TaskScope in_task;
  bool stop = false;
  try {
    stop = callback() != 0;
  } catch (...) {
    stop = true;  // it comes from C by contract; whatever went wrong there, the work must not go on
                  // unseen
  }
  next_poll = Clock::now() + kInterruptPeriod;
  return stop;
}

AbortScope::AbortScope(const std::atomic<bool>& requested)
    : requested_(requested), outer_(innermost_scope) {
  innermost_scope = this;
}

AbortScope::~AbortScope() { innermost_scope = outer_; }

bool AbortScope::Requested() {
  for (const AbortScope* scope = innermost_scope; scope != nullptr; scope = scope->outer_) {
    if (scope->requested_.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace npu::runtime
