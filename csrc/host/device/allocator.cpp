// SPDX-License-Identifier: Apache-2.0
#include "device/allocator.h"

#include <c10/core/CachingDeviceAllocator.h>

#include "device/block_pool.h"
#include "device/device.h"
#include "device/install.h"
#include "device/stream.h"
#include "device/twin.h"

namespace npu_backend {
namespace {

class DeviceAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    return AllocateOn({c10::DeviceType::PrivateUse1, CurrentDevice()}, bytes);
  }

  bool is_simple_data_ptr(const c10::DataPtr&) const override { return false; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    Drain(CurrentDevice());
    default_copy_data(to, from, bytes);
  }

  bool initialized() override { return true; }

  void emptyCache(c10::MempoolId_t) override {
    for (c10::DeviceIndex device = 0; device < DeviceCount(); ++device) {
      BlockPool::Get().Trim(device);
    }
  }

  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    if (data.get()) BlockPool::Get().RecordStream(data.get(), stream);
  }

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    return BlockPool::Get().StatsOf(CheckedIndex(device));
  }

  void resetAccumulatedStats(c10::DeviceIndex device) override {
    BlockPool::Get().ResetAccumulated(CheckedIndex(device));
  }

  void resetPeakStats(c10::DeviceIndex device) override {
    BlockPool::Get().ResetPeak(CheckedIndex(device));
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    const DeviceScope scope(device);
    size_t free = 0;
    size_t total = 0;
    Check(npuMemGetInfo(&free, &total));
    return {free, total};
  }
};

}  // namespace

c10::Allocator* NpuAllocator() {
  static auto& allocator = *new DeviceAllocator;
  return &allocator;
}

c10::DataPtr AllocateOn(c10::Device device, size_t bytes) {
  const HostAllocationsOn scope(device.index());
  auto twin = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                    TwinAllocator()->allocate(bytes),
                                                    TwinAllocator(), /*resizable=*/true);
  return DataOverTwin(std::move(twin), device);
}

void InstallAllocators() {
  c10::SetAllocator(c10::DeviceType::PrivateUse1, NpuAllocator());
  InstallHostAllocator();
  InstallPinnedAllocator();
}

}  // namespace npu_backend
