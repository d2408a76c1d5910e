// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/macros/Macros.h>

#include "device/registration.h"
#include "npu_runtime.h"

namespace npu_backend {

/// Raises the runtime's sentence. An interrupt is no error here: the interpreter raises it when the
/// call has returned.
[[noreturn]] NPU_BACKEND_API void Throw(npuError_t error);
inline void Check(npuError_t error) {
  if (C10_UNLIKELY(error != NPU_SUCCESS && error != NPU_ERROR_INTERRUPTED)) Throw(error);
}

NPU_BACKEND_API c10::DeviceIndex DeviceCount() noexcept;
NPU_BACKEND_API c10::DeviceIndex CurrentDevice();
/// index, if there is such a device; a sentence with the number of devices otherwise.
NPU_BACKEND_API c10::DeviceIndex CheckedIndex(int64_t index);
/// Makes device current; a sentence with the number of devices when it does not exist.
NPU_BACKEND_API void SetDevice(c10::DeviceIndex device);
/// Waits for all streams of device.
NPU_BACKEND_API void SynchronizeDevice(c10::DeviceIndex device);

/// device.index(), or the current device for "npu" without an index.
c10::DeviceIndex IndexOf(c10::Device device);

/// Makes device current while it lives.
class NPU_BACKEND_API DeviceScope {
 public:
  explicit DeviceScope(c10::DeviceIndex device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  c10::DeviceIndex before_ = -1;
};

/// Whether this process uses the device: a child that is forked from now on must not.
bool IsUsed() noexcept;
/// Whether this process was forked from one that used the device.
bool IsForked() noexcept;
void ThrowIfForked();

}  // namespace npu_backend
