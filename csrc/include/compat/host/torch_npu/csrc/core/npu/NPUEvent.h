// SPDX-License-Identifier: Apache-2.0
// Events of the device, as C++ code of packages names them.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <utility>

#include "acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUGuard.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

/// Made when it is recorded first, on the device of that stream.
struct NPUEvent {
  NPUEvent() = default;
  explicit NPUEvent(unsigned int /*flags*/) {}
  ~NPUEvent() {
    if (event_ != nullptr) aclrtDestroyEvent(event_);
  }
  NPUEvent(const NPUEvent&) = delete;
  NPUEvent& operator=(const NPUEvent&) = delete;
  NPUEvent(NPUEvent&& other) noexcept { swap(other); }
  NPUEvent& operator=(NPUEvent&& other) noexcept {
    swap(other);
    return *this;
  }

  operator aclrtEvent() const { return event_; }
  aclrtEvent event() const { return event_; }
  bool isCreated() const { return event_ != nullptr; }
  c10::DeviceIndex device_index() const { return device_index_; }
  std::optional<c10::Device> device() const {
    return isCreated() ? std::optional(impl::DeviceAt(device_index_)) : std::nullopt;
  }

  /// True where it was never recorded, too.
  bool query() const { return !isCreated() || impl::Guard().queryEvent(event_); }
  void record() { record(getCurrentNPUStream()); }
  void recordOnce(const NPUStream& stream) {
    if (!isCreated()) record(stream);
  }
  void record(const NPUStream& stream) {
    impl::Guard().record(&event_, stream, device_index_, c10::EventFlag::PYTORCH_DEFAULT);
    device_index_ = stream.device_index();
  }
  /// Work that is queued on stream from now on waits for the event.
  void block(const NPUStream& stream) const { impl::Guard().block(event_, stream); }
  void synchronize() const { impl::Guard().synchronizeEvent(event_); }
  /// Milliseconds from this event to other.
  float elapsed_time(const NPUEvent& other) const {
    return static_cast<float>(impl::Guard().elapsedTime(event_, other.event_, device_index_));
  }

 private:
  void swap(NPUEvent& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(device_index_, other.device_index_);
  }

  aclrtEvent event_ = nullptr;
  c10::DeviceIndex device_index_ = -1;
};

}  // namespace c10_npu
