// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.hpp"

#include <system_error>
#include <utility>

#include "runtime/checked_launch.hpp"
#include "runtime/interrupt.hpp"

namespace npu::runtime {
namespace {

constexpr uint64_t kTasksPerPoll = 16;

const char kInterrupted[] = "expected the work of the stream to end, got an interrupt";

}  // namespace

void Stream::Revive(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  device_ = device;
  drop_until_ = 0;
  error_ = {};
  has_error_.store(false);
  alive_.store(true);
}

Task* Stream::NewTask() {
  if (free_ == nullptr) return new Task;
  Task* task = free_;
  free_ = task->next;
  return task;
}

void Stream::Recycle(Task* task) {
  task->recording.reset();
  task->launch.args.Clear();
  task->launch.ranges.Clear();
  task->next = free_;
  free_ = task;
}

uint64_t Stream::Append(Task* task) {
  const uint64_t sequence = enqueued_.load(std::memory_order_relaxed) + 1;
  task->sequence = sequence;
  task->next = nullptr;
  (head_ == nullptr ? head_ : tail_->next) = task;
  tail_ = task;
  enqueued_.store(sequence, std::memory_order_release);
  return sequence;
}

void Stream::MakeRoom(std::unique_lock<std::mutex>& lock) {
  // A task that enqueues must not wait for the queue that it is in.
  if (ThisThreadRole().in_task || (running_ && runner_ == std::this_thread::get_id())) return;
  const uint64_t newest = enqueued_.load(std::memory_order_relaxed);
  lock.unlock();
  WaitFor(newest);
  lock.lock();
}

bool Stream::WaitFor(uint64_t sequence) {
  if (completed_.load(std::memory_order_acquire) >= sequence) return false;
  bool interrupted = false;
  std::unique_lock<std::mutex> lock(mutex_);
  while (completed_.load(std::memory_order_relaxed) < sequence) {
    const bool nested = running_ && runner_ == std::this_thread::get_id();
    if (running_ && !nested) {
      interrupted |= AwaitRunner(lock);
      continue;
    }
    if (head_ == nullptr) break;  // nested in the release of the task that is waited for
    interrupted |= RunFront(lock);
  }
  return interrupted;
}

bool Stream::AwaitRunner(std::unique_lock<std::mutex>& lock) {
  ++waiters_;
  changed_.wait_for(lock, kInterruptPeriod);
  --waiters_;
  lock.unlock();
  const bool stop = PollInterrupt() || AbortScope::Requested();
  lock.lock();
  if (stop) StopWork();
  return stop;
}

/// Stops the task that runs and drops what is queued.
void Stream::StopWork() {
  if (running_) {
    stop_requested_.store(true);
  } else {
    StoreError({NPU_ERROR_INTERRUPTED, kInterrupted});
  }
}

void Stream::StoreError(Status status) {
  if (status.code == NPU_ERROR_HAZARD) return StoreFindings(std::move(status));
  drop_until_ = enqueued_.load(std::memory_order_relaxed);
  if (HasFault()) return;
  error_ = std::move(status);
  has_error_.store(true, std::memory_order_release);
}

/// Findings drop nothing, and give way to errors.
void Stream::StoreFindings(Status status) {
  if (!has_error_.load(std::memory_order_relaxed)) {
    error_ = std::move(status);
    has_error_.store(true, std::memory_order_release);
  } else if (error_.code == NPU_ERROR_HAZARD) {
    error_.findings += status.findings;
  }
}

bool Stream::HasFault() const {
  return has_error_.load(std::memory_order_relaxed) && error_.code != NPU_ERROR_INTERRUPTED &&
         error_.code != NPU_ERROR_HAZARD;
}

Status Stream::TakeError() {
  if (!has_error_.load(std::memory_order_acquire)) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!has_error_.load(std::memory_order_relaxed)) return {};
  if (HasFault()) drop_until_ = enqueued_.load(std::memory_order_relaxed);
  has_error_.store(false);
  Status status = std::exchange(error_, {});
  if (status.findings > 1) {
    status.message += " (the first of " + std::to_string(status.findings) + " findings)";
  }
  return status;
}

bool Stream::RunFront(std::unique_lock<std::mutex>& lock) {
  Task* task = head_;
  head_ = task->next;
  const bool nested = std::exchange(running_, true);
  runner_ = std::this_thread::get_id();
  const bool dropped = HasFault() || task->sequence <= drop_until_;
  lock.unlock();
  Status status = Execute(*task, dropped);
  lock.lock();
  running_ = nested;
  if (stop_requested_.load(std::memory_order_relaxed)) {
    stop_requested_.store(false);
    if (status.code == NPU_SUCCESS) status = {NPU_ERROR_INTERRUPTED, kInterrupted};
  }
  const bool interrupted = status.code == NPU_ERROR_INTERRUPTED;
  if (status.code != NPU_SUCCESS) StoreError(std::move(status));
  Recycle(task);
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (waiters_ != 0) changed_.notify_all();
  return interrupted;
}

Status Stream::Execute(Task& task, bool dropped) {
  const AbortScope scope(stop_requested_);
  Status status;
  try {
    status = ExecuteTask(task, dropped);
  } catch (const std::exception& error) {
    status = {NPU_ERROR_KERNEL_FAULT,
              std::string("host function: expected no exception, got ") + error.what()};
  } catch (...) {
    status = {NPU_ERROR_KERNEL_FAULT,
              "host function: expected no exception, got one of unknown type"};
  }
  const bool poll = task.kind != Task::Kind::kLaunch || task.sequence % kTasksPerPoll == 0;
  if (status.code == NPU_SUCCESS && poll && PollInterrupt()) {
    status = {NPU_ERROR_INTERRUPTED, kInterrupted};
  }
  return status;
}

Status Stream::ExecuteTask(Task& task, bool dropped) {
  Status status;
  switch (task.kind) {
    case Task::Kind::kLaunch:
      if (!dropped) {
        status = RunLaunch(task.launch);
        const bool has_ended = status.code == NPU_SUCCESS || status.code == NPU_ERROR_HAZARD;
        if (has_ended) launch_counter_.Add(task.launch.kernel->name);
      }
      if (task.function != nullptr) task.function(task.argument);
      break;
    case Task::Kind::kHostFunction:
      if (!dropped) {
        const TaskScope in_task;
        task.function(task.argument);
      }
      break;
    case Task::Kind::kEventRecord:
      task.recording->time = std::chrono::steady_clock::now();
      task.recording->happened.store(true, std::memory_order_release);
      break;
    case Task::Kind::kEventWait:
      if (!dropped && task.recording->stream->WaitFor(task.recording->sequence)) {
        status = {NPU_ERROR_INTERRUPTED, kInterrupted};
      }
      break;
  }
  return status;
}

void Stream::HandOver() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!Pending()) return;
    background_wanted_ = true;
    if (!background_started_) {
      try {
        std::thread([this] { RunInBackground(); }).detach();
        background_started_ = true;
      } catch (const std::system_error&) {
        background_wanted_ = false;  // no thread to be had: the caller runs the work
      }
    }
    if (background_started_) {
      handed_over_.notify_one();
      return;
    }
  }
  if (!ThisThreadRole().in_task) WaitFor(Newest());
}

void Stream::RunInBackground() {
  ThisThreadRole().is_background = true;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    handed_over_.wait(lock, [this] { return background_wanted_; });
    background_wanted_ = false;
    const uint64_t newest = enqueued_.load(std::memory_order_relaxed);
    lock.unlock();
    WaitFor(newest);
    lock.lock();
  }
}

}  // namespace npu::runtime
