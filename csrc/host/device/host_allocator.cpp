// SPDX-License-Identifier: Apache-2.0
#include <c10/core/CPUAllocator.h>

#include "device/allocator.h"
#include "device/block_pool.h"
#include "device/device.h"

namespace npu_backend {
namespace {

constexpr c10::DeviceIndex kNone = -1;
thread_local c10::DeviceIndex host_allocations_on = kNone;

void FreePooled(void* pointer) { BlockPool::Get().Free(pointer); }

c10::DataPtr AllocatePooled(c10::DeviceIndex device, size_t bytes) {
  void* memory = BlockPool::Get().Allocate(device, bytes);
  return {memory, memory, &FreePooled, c10::Device(c10::DeviceType::CPU)};
}

class PooledAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const bool inside = host_allocations_on != kNone;
    return AllocatePooled(inside ? host_allocations_on : CurrentDevice(), bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &FreePooled; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

c10::Allocator* default_allocator = nullptr;

void FreeEither(void* pointer) {
  BlockPool& pool = BlockPool::Get();
  pool.DeviceOf(pointer) >= 0 ? pool.Free(pointer) : default_allocator->raw_deleter()(pointer);
}

/// PyTorch's CPU allocator, except while HostAllocationsOn lives.
class HostAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (C10_LIKELY(host_allocations_on == kNone)) return default_allocator->allocate(bytes);
    return AllocatePooled(host_allocations_on, bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &FreeEither; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

c10::Allocator* TwinAllocator() {
  static auto& allocator = *new PooledAllocator;
  return &allocator;
}

HostAllocationsOn::HostAllocationsOn(c10::DeviceIndex device) : before_(host_allocations_on) {
  host_allocations_on = device;
}

HostAllocationsOn::~HostAllocationsOn() { host_allocations_on = before_; }

void InstallHostAllocator() {
  default_allocator = c10::GetCPUAllocator();
  // The profiler's allocator of a mobile build has no deleter; leave such an allocator alone.
  if (!default_allocator->raw_deleter()) return;
  constexpr uint8_t kPriority = 100;  // above the default's 0
  c10::SetCPUAllocator(new HostAllocator, kPriority);
}

}  // namespace npu_backend
