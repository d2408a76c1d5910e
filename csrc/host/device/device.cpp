// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <c10/util/Exception.h>
#include <torch/library.h>

#include <limits>

namespace npu_backend {
namespace {

void Define() {
  Extend("npu_backend")
      .def(
          "raise_error(int error) -> ()",
          +[](int64_t error) { Check(static_cast<npuError_t>(error)); });
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace

void Throw(npuError_t error) {
  const char* sentence = npuGetLastErrorMessage();
  if (error == NPU_ERROR_OUT_OF_MEMORY) TORCH_CHECK_WITH(OutOfMemoryError, false, sentence);
  TORCH_CHECK(false, sentence);
}

c10::DeviceIndex DeviceCount() noexcept {
  static const c10::DeviceIndex count = [] {
    int devices = 0;
    if (npuGetDeviceCount(&devices) != NPU_SUCCESS) devices = 0;
    constexpr int kMost = std::numeric_limits<c10::DeviceIndex>::max();
    return static_cast<c10::DeviceIndex>(std::min(devices, kMost));
  }();
  return count;
}

c10::DeviceIndex CurrentDevice() {
  int device = 0;
  Check(npuGetDevice(&device));
  return static_cast<c10::DeviceIndex>(device);
}

c10::DeviceIndex CheckedIndex(int64_t index) {
  TORCH_CHECK(index >= 0 && index < DeviceCount(), "npu: expected a device index in [0, ",
              static_cast<int>(DeviceCount()), "), got ", index,
              " (NPU_DEVICE_COUNT sets the number of devices)");
  return static_cast<c10::DeviceIndex>(index);
}

void SetDevice(c10::DeviceIndex device) { Check(npuSetDevice(CheckedIndex(device))); }

void SynchronizeDevice(c10::DeviceIndex device) {
  ThrowIfForked();
  const DeviceScope scope(device);
  Check(npuDeviceSynchronize());
}

c10::DeviceIndex IndexOf(c10::Device device) {
  return device.has_index() ? device.index() : CurrentDevice();
}

DeviceScope::DeviceScope(c10::DeviceIndex device) {
  const c10::DeviceIndex current = CurrentDevice();
  if (current == device) return;
  SetDevice(device);
  before_ = current;
}

DeviceScope::~DeviceScope() {
  if (before_ >= 0) npuSetDevice(before_);
}

}  // namespace npu_backend
