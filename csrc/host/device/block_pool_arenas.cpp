// SPDX-License-Identifier: Apache-2.0
#include <c10/util/Exception.h>

#include <array>
#include <exception>
#include <limits>
#include <utility>

#include "device/block_pool.h"
#include "device/device.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

constexpr size_t kMostDevices = std::numeric_limits<c10::DeviceIndex>::max() + 1;

thread_local std::array<BlockPool::ArenaId, kMostDevices> arenas_in_use = {};

npuStream_t StreamOrNull(c10::DeviceIndex device) noexcept {
  try {
    return CurrentNativeStream(device);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

BlockPool::Arena& BlockPool::ArenaOf(Device& device, ArenaId id) {
  const auto found = device.arenas.find(id);
  if (C10_LIKELY(found != device.arenas.end())) return found->second;
  Arena& arena = device.arenas[id];
  arena.id = id;
  const auto source = sources_.find(id);
  if (source != sources_.end()) arena.source = source->second;
  return arena;
}

BlockPool::ArenaId BlockPool::ArenaInUse(c10::DeviceIndex device) const {
  return arenas_in_use[static_cast<uint8_t>(device)];
}

BlockPool::ArenaId BlockPool::UseArena(c10::DeviceIndex device, ArenaId arena) {
  return std::exchange(arenas_in_use[static_cast<uint8_t>(device)], arena);
}

BlockPool::ArenaId BlockPool::NewArena(MemorySource source) {
  const std::lock_guard lock(mutex_);
  const ArenaId id = ++newest_arena_;
  if (source.allocate) sources_[id] = source;
  return id;
}

void BlockPool::DropArena(ArenaId id) {
  for (c10::DeviceIndex index = 0; index < DeviceCount(); ++index) {
    std::vector<Unused> unused;
    {
      const std::lock_guard lock(mutex_);
      Device& device = At(index);
      const auto arena = device.arenas.find(id);
      if (arena == device.arenas.end()) continue;
      arena->second.dropped = true;
      unused = TakeUnusedSegments(device, arena->second);
    }
    GiveBackToSource(index, unused);
  }
  const std::lock_guard lock(mutex_);
  sources_.erase(id);
}

void BlockPool::ReplaceSource(MemorySource source) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Device>& device : devices_) {
    TORCH_CHECK(device->stats.num_device_alloc == 0,
                "torch.npu.change_current_allocator: expected an allocator that has not been used "
                "yet, got one that has given memory out; call it before the first tensor on npu");
  }
  for (const std::unique_ptr<Device>& device : devices_) device->arenas.clear();
  sources_[kOrdinaryArena] = source;
  replaced_ = true;
}

MemorySource BlockPool::SourceOf(ArenaId arena) {
  const std::lock_guard lock(mutex_);
  const auto source = sources_.find(arena);
  return source == sources_.end() ? MemorySource() : source->second;
}

void* BlockPool::AllocateFromSource(c10::DeviceIndex index, const MemorySource& source,
                                    size_t bytes) {
  const DeviceScope scope(index);
  if (source.allocate) return source.allocate(bytes, index, CurrentNativeStream(index));
  void* memory = nullptr;
  return npuMalloc(&memory, bytes) == NPU_SUCCESS ? memory : nullptr;
}

void BlockPool::GiveBackToSource(c10::DeviceIndex index,
                                 const std::vector<Unused>& segments) noexcept {
  for (const Unused& segment : segments) {
    if (segment.source.free) {
      segment.source.free(segment.memory, segment.bytes, index, StreamOrNull(index));
    } else {
      npuFree(segment.memory);
    }
  }
}

}  // namespace npu_backend
