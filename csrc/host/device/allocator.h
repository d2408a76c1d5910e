// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <mutex>

namespace npu_backend {

/// The allocator of device npu: memory of the current device, labelled npu.
c10::Allocator* NpuAllocator();

/// The same memory, labelled CPU: allocator of twins. Memory is that of the device of the running
/// fallback call, else of the current device.
c10::Allocator* TwinAllocator();

/// Memory of device, labelled npu.
c10::DataPtr AllocateOn(c10::Device device, size_t bytes);

/// Memory for the host that torch calls pinned.
c10::Allocator* PinnedAllocator();
bool IsPinned(const void* pointer);
/// Pinned memory at pointer is not given back before what is now on stream has run.
void KeepPinnedUntil(const void* pointer, c10::Stream stream);
/// Held around fork(), so that the child finds the allocator whole.
std::mutex& PinnedMutex();

/// While it lives, what this thread allocates through PyTorch's CPU allocator is memory of device.
/// So the outputs of CPU kernels come from the cache of the device and count in its statistics.
class HostAllocationsOn {
 public:
  explicit HostAllocationsOn(c10::DeviceIndex device);
  ~HostAllocationsOn();
  HostAllocationsOn(const HostAllocationsOn&) = delete;
  HostAllocationsOn& operator=(const HostAllocationsOn&) = delete;

 private:
  c10::DeviceIndex before_;
};

/// Puts PyTorch's CPU allocator under that rule.
void InstallHostAllocator();

}  // namespace npu_backend
