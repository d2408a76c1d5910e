// SPDX-License-Identifier: Apache-2.0
#include "runtime/interrupt.hpp"

#include <ctime>

namespace npu::runtime {
namespace {

/// Good to the milliseconds of a timer tick, at a third of steady_clock's price: it is read every
/// few blocks of a kernel.
struct TickClock {
  static std::chrono::nanoseconds Now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
};

std::atomic<int (*)(void)> interrupt_callback{nullptr};
// Each launch asks for these: the initial-exec model spares it a call for each.
[[gnu::tls_model("initial-exec")]] thread_local std::chrono::nanoseconds next_poll{};
[[gnu::tls_model("initial-exec")]] thread_local const AbortScope* innermost_scope = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local ThreadRole thread_role;

}  // namespace

ThreadRole& ThisThreadRole() { return thread_role; }

void SetInterruptCallback(int (*callback)(void)) { interrupt_callback.store(callback); }

bool InterruptPollDue() {
  return interrupt_callback.load(std::memory_order_relaxed) != nullptr &&
         !thread_role.is_background && TickClock::Now() >= next_poll;
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
  next_poll = TickClock::Now() + kInterruptPeriod;
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
