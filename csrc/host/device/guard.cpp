// SPDX-License-Identifier: Apache-2.0
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "device/allocator.h"
#include "device/block_pool.h"
#include "device/device.h"
#include "device/install.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

npuEvent_t Native(void* event) { return static_cast<npuEvent_t>(event); }

/// NPU_SUCCESS: true; NPU_ERROR_NOT_READY: false.
bool Ready(npuError_t status) {
  if (status == NPU_ERROR_NOT_READY) return false;
  Check(status);
  return true;
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return c10::DeviceType::PrivateUse1; }

  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {type(), CurrentDevice()}; }
  void setDevice(c10::Device device) const override {
    if (device.has_index()) SetDevice(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) npuSetDevice(device.index());
  }
  c10::DeviceIndex deviceCount() const noexcept override { return DeviceCount(); }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override { return {}; }

  c10::Stream getStream(c10::Device device) const override {
    return CurrentStream(IndexOf(device));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, c10::Device(type(), IndexOf(device)));
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return StreamFromPool(IndexOf(device));
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return StreamFromPool(IndexOf(device));
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = CurrentStream(stream.device_index());
    SetCurrentStream(stream);
    return before;
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return NativeStream(stream);
  }
  bool queryStream(const c10::Stream& stream) const override {
    return Ready(npuStreamQuery(NativeStream(stream)));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    ThrowIfForked();
    Check(npuStreamSynchronize(NativeStream(stream)));
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    SynchronizeDevice(device);
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device,
              const c10::EventFlag) const override {
    ThrowIfForked();
    TORCH_CHECK(device == -1 || device == stream.device_index(),
                "npu event: expected a stream of device ", static_cast<int>(device),
                ", on which it was created, got one of device ",
                static_cast<int>(stream.device_index()));
    if (!*event) {
      npuEvent_t created = nullptr;
      Check(npuEventCreate(&created));
      *event = created;
    }
    Check(npuEventRecord(Native(*event), NativeStream(stream)));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) Check(npuStreamWaitEvent(NativeStream(stream), Native(event)));
  }
  bool queryEvent(void* event) const override {
    return !event || Ready(npuEventQuery(Native(event)));
  }
  void synchronizeEvent(void* event) const override {
    if (event) Check(npuEventSynchronize(Native(event)));
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK(start && end, "npu event: expected two recorded events, got one that is not");
    float milliseconds = 0;
    Check(npuEventElapsedTime(&milliseconds, Native(start), Native(end)));
    return milliseconds;
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    if (event) npuEventDestroy(Native(event));
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    if (data.get()) BlockPool::Get().RecordStream(data.get(), stream);
  }
};

}  // namespace

void InstallGuard() {
  static const auto& guard = *new Guard;
  c10::impl::registerDeviceGuard(c10::DeviceType::PrivateUse1, &guard);
}

}  // namespace npu_backend
