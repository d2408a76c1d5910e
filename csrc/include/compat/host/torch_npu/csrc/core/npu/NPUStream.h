// SPDX-License-Identifier: Apache-2.0
// Streams of the device, as C++ code of packages names them. Whatever PyTorch knows as its device
// "npu" answers: this header needs no library of its own.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <ostream>

#include "acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

namespace c10_npu {

namespace impl {

inline const c10::impl::DeviceGuardImplInterface& Guard() {
  return *c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1);
}

/// The device of index, or the current one for -1.
inline c10::Device DeviceAt(c10::DeviceIndex index) {
  return index < 0 ? Guard().getDevice() : c10::Device(c10::DeviceType::PrivateUse1, index);
}

}  // namespace impl

/// A c10::Stream that is known to be one of npu.
class NPUStream {
 public:
  enum Unchecked { UNCHECKED };

  explicit NPUStream(c10::Stream stream) : stream_(stream) {
    TORCH_CHECK(stream.device_type() == c10::DeviceType::PrivateUse1,
                "c10_npu::NPUStream: expected a stream of npu, got one of ", stream.device());
  }
  explicit NPUStream(Unchecked, c10::Stream stream) : stream_(stream) {}

  bool operator==(const NPUStream& other) const noexcept { return stream_ == other.stream_; }
  bool operator!=(const NPUStream& other) const noexcept { return stream_ != other.stream_; }
  operator aclrtStream() const { return stream(); }
  operator c10::Stream() const { return stream_; }

  c10::DeviceType device_type() const { return c10::DeviceType::PrivateUse1; }
  c10::DeviceIndex device_index() const { return stream_.device_index(); }
  c10::Device device() const { return stream_.device(); }
  c10::StreamId id() const { return stream_.id(); }
  c10::Stream unwrap() const { return stream_; }

  bool query() const { return impl::Guard().queryStream(stream_); }
  void synchronize() const { impl::Guard().synchronizeStream(stream_); }

  /// The stream of the runtime. There is no queue of tasks before it that might have to be emptied.
  aclrtStream stream() const { return impl::Guard().getStreamNativeHandle(stream_); }
  aclrtStream stream(bool /*need_empty*/) const { return stream(); }

  c10::StreamData3 pack3() const { return stream_.pack3(); }
  static NPUStream unpack3(c10::StreamId id, c10::DeviceIndex device, c10::DeviceType type) {
    return NPUStream(c10::Stream::unpack3(id, device, type));
  }

 private:
  c10::Stream stream_;
};

inline NPUStream getCurrentNPUStream(c10::DeviceIndex device_index = -1) {
  return NPUStream(impl::Guard().getStream(impl::DeviceAt(device_index)));
}
inline NPUStream getDefaultNPUStream(c10::DeviceIndex device_index = -1) {
  return NPUStream(impl::Guard().getDefaultStream(impl::DeviceAt(device_index)));
}
/// One of the streams of a pool, in turn. There are no priorities.
inline NPUStream getNPUStreamFromPool(c10::DeviceIndex device_index = -1) {
  return NPUStream(impl::Guard().getStreamFromGlobalPool(impl::DeviceAt(device_index), false));
}
inline NPUStream getStreamFromPool(bool /*is_high_priority*/, c10::DeviceIndex device_index = -1) {
  return getNPUStreamFromPool(device_index);
}
/// A stream that aclrtCreateStream has made.
inline NPUStream getStreamFromExternal(aclrtStream stream, c10::DeviceIndex device_index) {
  return NPUStream(c10::Stream(c10::Stream::UNSAFE, impl::DeviceAt(device_index),
                               reinterpret_cast<c10::StreamId>(stream)));
}
inline void setCurrentNPUStream(NPUStream stream) { impl::Guard().exchangeStream(stream); }

/// Waits for the current device. Failures raise, whatever check_error says.
inline bool npuSynchronizeDevice(bool /*check_error*/ = true) {
  impl::Guard().synchronizeDevice(impl::Guard().getDevice().index());
  return true;
}

inline std::ostream& operator<<(std::ostream& out, const NPUStream& stream) {
  return out << stream.unwrap();
}

}  // namespace c10_npu

namespace std {
template <>
struct hash<c10_npu::NPUStream> {
  size_t operator()(c10_npu::NPUStream stream) const noexcept {
    return std::hash<c10::Stream>{}(stream.unwrap());
  }
};
}  // namespace std
