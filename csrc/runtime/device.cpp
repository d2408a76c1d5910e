// SPDX-License-Identifier: Apache-2.0
#include "runtime/device.hpp"

#include <algorithm>

#include "runtime/environment.hpp"

namespace npu::runtime {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local int current_device = 0;

}  // namespace

int& CurrentDevice() { return current_device; }

Registry& Registry::Get() {
  static auto* const registry = new Registry;  // outlives static destructors
  return *registry;
}

Registry::Registry() {
  for (int device = 0; device < GetEnvironment().device_count; ++device) {
    default_streams_.push_back(new npuStream(device));
  }
}

bool Registry::IsDefault(npuStream_t stream) {
  return std::find(default_streams_.begin(), default_streams_.end(), stream) !=
         default_streams_.end();
}

npuStream_t Registry::CreateStream(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (free_streams_.empty()) {
    streams_.reserve(streams_.size() + 1);
    free_streams_.reserve(streams_.size() + 1);
    streams_.push_back(new npuStream(device));
    return streams_.back();
  }
  npuStream_t stream = free_streams_.back();
  free_streams_.pop_back();
  stream->Revive(device);
  return stream;
}

bool Registry::DestroyStream(npuStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!stream->Retire()) return false;
  free_streams_.push_back(stream);
  return true;
}

bool Registry::Knows(npuStream_t stream) {
  if (IsDefault(stream)) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::find(streams_.begin(), streams_.end(), stream) != streams_.end();
}

std::vector<npuStream_t> Registry::BusyStreams(int device) {
  std::vector<npuStream_t> result;  // mostly none, and then without memory
  if (!DefaultStream(device)->Idle()) result.push_back(DefaultStream(device));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (npuStream_t stream : streams_) {
    if (stream->alive() && stream->device() == device && !stream->Idle()) result.push_back(stream);
  }
  return result;
}

npuEvent_t Registry::CreateEvent() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (free_events_.empty()) {
    free_events_.reserve(event_count_ + 1);  // so that DestroyEvent never allocates
    auto* const event = new npuEvent;
    ++event_count_;
    return event;
  }
  npuEvent_t event = free_events_.back();
  free_events_.pop_back();
  const std::lock_guard<std::mutex> event_lock(event->mutex);
  event->alive = true;
  return event;
}

void Registry::DestroyEvent(npuEvent_t event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_events_.push_back(event);
}

}  // namespace npu::runtime
