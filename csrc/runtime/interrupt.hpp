// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

namespace npu::runtime {

/// Shortest time between two calls of the interrupt callback by one thread.
inline constexpr std::chrono::milliseconds kInterruptPeriod{50};

void SetInterruptCallback(int (*callback)(void));

/// Asks the interrupt callback, at most once per kInterruptPeriod and thread; true: stop.
bool PollInterrupt();

/// Whether PollInterrupt would ask now.
bool InterruptPollDue();

/// While one lives, the thread runs work of a stream that somebody else may want stopped. Scopes
/// nest: work of one stream may wait for another stream's.
class AbortScope {
 public:
  explicit AbortScope(const std::atomic<bool>& requested);
  ~AbortScope();
  AbortScope(const AbortScope&) = delete;
  AbortScope& operator=(const AbortScope&) = delete;

  /// Whether work of this thread is to stop.
  static bool Requested();

 private:
  const std::atomic<bool>& requested_;
  const AbortScope* outer_;
};

/// What the calling thread does just now.
struct ThreadRole {
  bool in_task =
      false;  // inside a kernel, a host function or the interrupt callback: must not wait
  bool is_background = false;  // a thread of the runtime: never calls the interrupt callback
};
ThreadRole& ThisThreadRole();

/// While one lives, the thread is inside of a task.
class TaskScope {
 public:
  TaskScope() : outer_(std::exchange(ThisThreadRole().in_task, true)) {}
  ~TaskScope() { ThisThreadRole().in_task = outer_; }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  bool outer_;
};

}  // namespace npu::runtime
