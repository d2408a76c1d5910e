// SPDX-License-Identifier: Apache-2.0
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include <algorithm>
#include <cstring>

#include "device/allocator.h"
#include "device/block_pool.h"
#include "device/device.h"
#include "device/generator.h"
#include "device/install.h"
#include "device/resize.h"
#include "device/stream.h"

namespace npu_backend {

void ResizeStorage(c10::StorageImpl* storage, size_t bytes) {
  if (storage->nbytes() == bytes) return;
  TORCH_CHECK(storage->resizable(),
              "npu: expected a storage that can be resized, got a fixed one of ", storage->nbytes(),
              " bytes");
  const c10::Device device = storage->device();
  c10::DataPtr data = AllocateOn(device, bytes);
  const size_t kept = std::min(bytes, storage->nbytes());
  if (kept > 0) {
    Drain(device.index());
    std::memcpy(data.get(), storage->data(), kept);
  }
  storage->set_data_ptr_noswap(std::move(data));
  storage->set_nbytes(bytes);
}

namespace {

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return DeviceCount() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return IsUsed(); }
  void init() const override { ThrowIfForked(); }

  c10::DeviceIndex deviceCount() const override { return DeviceCount(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { SetDevice(device); }
  c10::DeviceIndex getCurrentDevice() const override { return CurrentDevice(); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex before = CurrentDevice();
    SetDevice(device);
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? CurrentDevice() : exchangeDevice(device);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return DefaultGenerator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return NewGenerator(device);
  }

  bool isPinnedPtr(const void* pointer) const override { return IsPinned(pointer); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return PinnedAllocator(); }
  c10::Device getDeviceFromPtr(void* pointer) const override {
    const c10::DeviceIndex device = BlockPool::Get().DeviceOf(pointer);
    TORCH_CHECK(device >= 0, "npu: expected a pointer to memory of the device, got ", pointer);
    return {c10::DeviceType::PrivateUse1, device};
  }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    ResizeStorage(storage.unsafeGetStorageImpl(), bytes);
  }
};

}  // namespace

void InstallHooks() {
  static auto& hooks = *new Hooks;
  at::RegisterPrivateUse1HooksInterface(&hooks);
}

}  // namespace npu_backend
