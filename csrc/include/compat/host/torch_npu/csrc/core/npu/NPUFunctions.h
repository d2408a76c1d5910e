// SPDX-License-Identifier: Apache-2.0
// Devices, as C++ code of packages names them.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace c10_npu {

inline c10::DeviceIndex device_count() noexcept { return impl::Guard().deviceCount(); }
inline c10::DeviceIndex device_count_ensure_non_zero() {
  const c10::DeviceIndex count = device_count();
  TORCH_CHECK(count > 0, "c10_npu::device_count: expected a device, got none");
  return count;
}

inline c10::DeviceIndex current_device() { return impl::Guard().getDevice().index(); }
inline void set_device(c10::DeviceIndex device) {
  impl::Guard().setDevice(c10::Device(c10::DeviceType::PrivateUse1, device));
}
/// The device before.
inline int ExchangeDevice(int device) {
  const c10::Device wanted(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
  return impl::Guard().exchangeDevice(wanted).index();
}

/// These two return the error instead of raising it.
inline aclError GetDevice(int32_t* device) { return aclrtGetDevice(device); }
inline aclError SetDevice(c10::DeviceIndex device) { return aclrtSetDevice(device); }
inline aclError MaybeSetDevice(c10::DeviceIndex device) { return SetDevice(device); }

inline void device_synchronize() { npuSynchronizeDevice(); }
inline void stream_synchronize(aclrtStream stream) {
  NPU_CHECK_ERROR(aclrtSynchronizeStream(stream));
}

}  // namespace c10_npu
