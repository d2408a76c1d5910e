// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/launch.hpp"
#include "runtime/status.hpp"

namespace npu::runtime {

class Stream;

/// One record of an event: a place in the queue of a stream.
struct Recording {
  Stream* stream = nullptr;
  uint64_t sequence = 0;
  std::chrono::steady_clock::time_point time;  // valid once happened
  std::atomic<bool> happened{false};
};

/// One entry of a stream's queue.
struct Task {
  enum class Kind : uint8_t { kLaunch, kHostFunction, kEventRecord, kEventWait };

  Kind kind = Kind::kLaunch;
  Task* next = nullptr;
  uint64_t sequence = 0;
  Launch launch;
  void (*function)(void*) = nullptr;  // kHostFunction: the function; kLaunch: release
  void* argument = nullptr;
  std::shared_ptr<Recording> recording;
};

/// A queue of tasks that run one after the other, in whichever thread waits for them. Never freed:
/// a destroyed stream is handed out again, so a stale handle finds memory that is whole.
class Stream {
 public:
  explicit Stream(int device) : device_(device) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int device() const { return device_; }
  bool alive() const { return alive_.load(std::memory_order_relaxed); }
  void Revive(int device);
  /// Whether the stream lived until now.
  bool Retire() { return alive_.exchange(false); }

  /// Appends a task that fill completes; runs queued work first when the queue is full. Returns its
  /// sequence number.
  template <class Fill>
  uint64_t Enqueue(Task::Kind kind, Fill&& fill) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (enqueued_.load(std::memory_order_relaxed) - completed_.load(std::memory_order_relaxed) >=
        kMaxQueued) [[unlikely]] {
      MakeRoom(lock);
    }
    Task* task = NewTask();
    try {
      fill(*task);
    } catch (...) {
      Recycle(task);
      throw;
    }
    task->kind = kind;
    if (kind == Task::Kind::kEventRecord) task->recording->sequence = Newest() + 1;
    return Append(task);
  }

  /// Whether all work is done and no error is stored.
  bool Idle() const {
    return completed_.load(std::memory_order_acquire) ==
               enqueued_.load(std::memory_order_acquire) &&
           !has_error_.load(std::memory_order_acquire);
  }
  bool Pending() const {
    return completed_.load(std::memory_order_acquire) != enqueued_.load(std::memory_order_acquire);
  }
  uint64_t Newest() const { return enqueued_.load(std::memory_order_acquire); }

  /// Returns once task sequence has ended; runs queued work in this thread unless another one does.
  /// True when the interrupt callback stopped the work meanwhile.
  bool WaitFor(uint64_t sequence);

  /// The stored error, which is forgotten; behind a fault together with the work that is queued.
  Status TakeError();

  /// Lets pending work go on in the background.
  void HandOver();

 private:
  static constexpr uint64_t kMaxQueued = 1024;

  Task* NewTask();
  void Recycle(Task* task);
  uint64_t Append(Task* task);
  void MakeRoom(std::unique_lock<std::mutex>& lock);
  /// Runs the first task; true when it was interrupted.
  bool RunFront(std::unique_lock<std::mutex>& lock);
  Status Execute(Task& task, bool dropped);
  Status ExecuteTask(Task& task, bool dropped);
  void StoreError(Status status);
  void StoreFindings(Status status);
  /// Whether a fault is stored. It drops all that is queued until somebody takes it; an interrupt,
  /// which whoever asked for it has seen, drops only what was queued at its time.
  bool HasFault() const;
  void StopWork();
  /// Waits for the thread that runs a task; true when the callback asked to stop.
  bool AwaitRunner(std::unique_lock<std::mutex>& lock);
  void RunInBackground();

  std::mutex mutex_;
  std::condition_variable changed_;  // a task has ended
  std::condition_variable handed_over_;
  Task* head_ = nullptr;
  Task* tail_ = nullptr;
  Task* free_ = nullptr;
  std::atomic<uint64_t> enqueued_{0};
  std::atomic<uint64_t> completed_{0};
  LaunchCounter launch_counter_;  // used by the thread that runs a task
  uint64_t drop_until_ = 0;       // tasks up to here are dropped
  bool running_ = false;
  std::thread::id runner_;
  int waiters_ = 0;
  bool background_started_ = false;
  bool background_wanted_ = false;
  std::atomic<bool> stop_requested_{false};  // of the task that runs
  std::atomic<bool> has_error_{false};
  Status error_;
  std::atomic<bool> alive_{true};
  int device_;
};

}  // namespace npu::runtime
