// SPDX-License-Identifier: Apache-2.0
// Guards that set device or stream and set it back, as C++ code of packages names them. Those of
// PyTorch do the work.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>

#include <optional>
#include <vector>

#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

/// Makes a device current while it lives.
struct NPUGuard {
  explicit NPUGuard(c10::DeviceIndex index) : NPUGuard(impl::DeviceAt(index)) {}
  explicit NPUGuard(c10::Device device) : guard_(device) {}

  void set_device(c10::Device device) { guard_.reset_device(device); }
  void reset_device(c10::Device device) { guard_.reset_device(device); }
  void set_index(c10::DeviceIndex index) { guard_.set_index(index); }
  c10::Device original_device() const { return guard_.original_device(); }
  c10::Device current_device() const { return guard_.current_device(); }

 private:
  c10::DeviceGuard guard_;
};

/// The same, perhaps without a device.
struct OptionalNPUGuard {
  OptionalNPUGuard() = default;
  explicit OptionalNPUGuard(std::optional<c10::Device> device) : guard_(device) {}
  explicit OptionalNPUGuard(std::optional<c10::DeviceIndex> index) {
    if (index.has_value()) set_index(*index);
  }

  void set_device(c10::Device device) { guard_.reset_device(device); }
  void reset_device(c10::Device device) { guard_.reset_device(device); }
  void set_index(c10::DeviceIndex index) { guard_.reset_device(impl::DeviceAt(index)); }
  std::optional<c10::Device> original_device() const { return guard_.original_device(); }
  std::optional<c10::Device> current_device() const { return guard_.current_device(); }

 private:
  c10::OptionalDeviceGuard guard_;
};

/// Makes a stream and its device current while it lives.
struct NPUStreamGuard {
  explicit NPUStreamGuard(c10::Stream stream) : guard_(NPUStream(stream)) {}

  void reset_stream(c10::Stream stream) { guard_.reset_stream(NPUStream(stream)); }
  NPUStream original_stream() const { return NPUStream(guard_.original_stream()); }
  NPUStream current_stream() const { return NPUStream(guard_.current_stream()); }
  c10::Device original_device() const { return guard_.original_device(); }
  c10::Device current_device() const { return guard_.current_device(); }

 private:
  c10::StreamGuard guard_;
};

/// The same, perhaps without a stream.
struct OptionalNPUStreamGuard {
  OptionalNPUStreamGuard() = default;
  explicit OptionalNPUStreamGuard(c10::Stream stream) { reset_stream(stream); }
  explicit OptionalNPUStreamGuard(std::optional<c10::Stream> stream) {
    if (stream.has_value()) reset_stream(*stream);
  }

  void reset_stream(c10::Stream stream) { guard_.reset_stream(NPUStream(stream)); }
  void reset() { guard_.reset(); }
  std::optional<NPUStream> original_stream() const { return AsNpu(guard_.original_stream()); }
  std::optional<NPUStream> current_stream() const { return AsNpu(guard_.current_stream()); }

 private:
  static std::optional<NPUStream> AsNpu(const std::optional<c10::Stream>& stream) {
    return stream.has_value() ? std::optional<NPUStream>(NPUStream(*stream)) : std::nullopt;
  }
  c10::OptionalStreamGuard guard_;
};

/// Makes one stream on each of several devices current while it lives.
struct NPUMultiStreamGuard {
  explicit NPUMultiStreamGuard(c10::ArrayRef<NPUStream> streams)
      : guard_(std::vector<c10::Stream>(streams.begin(), streams.end())) {}

 private:
  c10::MultiStreamGuard guard_;
};

}  // namespace c10_npu
