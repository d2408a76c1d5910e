// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/flat_hash_map.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "npu_runtime.h"

namespace npu_backend {

/// Caches memory of the devices. Requests up to 1 MiB are cut from segments of 2 MiB in size
/// classes of at most 25 % waste; larger ones are segments of their own, multiples of 2 MiB. Freed
/// blocks wait in the list of their size. The runtime is never called with the lock held: it calls
/// back into Free.
class BlockPool {
 public:
  using Stats = c10::CachingDeviceAllocator::DeviceStats;

  static BlockPool& Get();

  /// 64-byte aligned memory of device; nullptr for 0 bytes. Throws c10::OutOfMemoryError.
  void* Allocate(c10::DeviceIndex device, size_t bytes);
  /// Any thread may call it, with work on the block pending: then RecordStream or a reference held
  /// it.
  void Free(void* pointer) noexcept;
  /// The device whose block begins at pointer, -1 if none does.
  c10::DeviceIndex DeviceOf(const void* pointer);

  /// The block of pointer is not given out again before the work that is on stream when it is freed
  /// has run.
  void RecordStream(const void* pointer, c10::Stream stream);
  /// Waits for device and gives its unused segments back to the system.
  void Trim(c10::DeviceIndex device);

  Stats StatsOf(c10::DeviceIndex device);
  void ResetAccumulated(c10::DeviceIndex device);
  void ResetPeak(c10::DeviceIndex device);
  /// At most bytes are reserved on device from now on.
  void SetLimit(c10::DeviceIndex device, size_t bytes);

  /// Held around fork(), so that the child finds the pool whole.
  std::mutex& Mutex() { return mutex_; }

 private:
  struct Segment {
    char* memory;
    size_t bytes;
    bool small;       // shared by blocks up to 1 MiB
    size_t cut = 0;   // bytes made into blocks so far
    size_t live = 0;  // blocks in use
  };
  struct Block {
    char* memory;
    size_t bytes;
    size_t requested;
    Segment* segment;
    c10::DeviceIndex device;
    std::vector<c10::Stream> streams;  // other streams that use it
  };
  /// A freed block, and events behind the work of other streams that may still use it.
  struct Awaited {
    Block* block;
    std::vector<npuEvent_t> events;
  };
  struct Device {
    std::map<size_t, std::vector<Block*>> free;  // by bytes
    std::vector<std::unique_ptr<Segment>> segments;
    std::vector<Awaited> awaited;
    Segment* open = nullptr;  // small blocks are cut from it
    size_t limit = SIZE_MAX;
    Stats stats;
  };

  Device& At(c10::DeviceIndex device);
  void* TakeCached(c10::DeviceIndex index, size_t bytes, size_t requested);
  Block* FindFree(Device& device, size_t bytes);
  Block* Cut(c10::DeviceIndex index, Segment& segment, size_t bytes);
  void* Use(Device& device, Block* block, size_t requested);
  void GiveBack(Device& device, Block* block);
  void* TakeNew(c10::DeviceIndex index, size_t bytes, size_t requested);
  bool MayReserve(c10::DeviceIndex index, size_t bytes);
  void CollectAwaited(c10::DeviceIndex index);
  static void Count(Device& device, const Block& block, bool allocated);
  static void CountSegment(Device& device, const Segment& segment, bool reserved);
  std::vector<void*> TakeUnusedSegments(Device& device);
  [[noreturn]] void ThrowOutOfMemory(c10::DeviceIndex index, size_t requested);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Device>> devices_;
  ska::flat_hash_map<const void*, std::unique_ptr<Block>> blocks_;
};

}  // namespace npu_backend
