// SPDX-License-Identifier: Apache-2.0
#include "device/block_pool.h"

#include <bit>

#include "device/device.h"
#include "device/orphans.h"

namespace npu_backend {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSegmentBytes = size_t{2} << 20;
constexpr size_t kSmallBytes = size_t{1} << 20;  // the largest request that shares a segment
/// Queued work may keep so much freed memory alive before a request without a cached block waits
/// for it.
constexpr int64_t kOrphanedBytes = int64_t{256} << 20;

size_t RoundUp(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

/// The size of the block for a request: steps of 64 bytes, then of a quarter of the next lower
/// power of two (an eighth from 32 MiB up), so that few sizes serve many requests.
size_t BlockBytes(size_t bytes) {
  const size_t power = std::bit_floor(bytes);
  if (bytes <= kSmallBytes) return RoundUp(bytes, std::max(kAlignment, power / 4));
  return RoundUp(bytes, std::max(kSegmentBytes, power / 8));
}

}  // namespace

BlockPool& BlockPool::Get() {
  static BlockPool& pool = *new BlockPool;
  return pool;
}

BlockPool::Device& BlockPool::At(c10::DeviceIndex device) {
  const size_t index = static_cast<size_t>(device);
  while (devices_.size() <= index) devices_.push_back(std::make_unique<Device>());
  return *devices_[index];
}

void* BlockPool::Allocate(c10::DeviceIndex device, size_t bytes) {
  ThrowIfForked();
  if (bytes == 0) return nullptr;
  if (bytes > size_t{1} << 62) ThrowOutOfMemory(device, bytes);  // BlockBytes must not overflow
  const size_t block_bytes = BlockBytes(bytes);
  CollectAwaited(device);
  if (void* cached = TakeCached(device, block_bytes, bytes)) return cached;
  if (OrphanedBytes() > kOrphanedBytes) {
    SynchronizeDevice(device);
    ResetOrphanedBytes();
    if (void* cached = TakeCached(device, block_bytes, bytes)) return cached;
  }
  if (void* fresh = TakeNew(device, block_bytes, bytes)) return fresh;
  Trim(device);
  if (void* cached = TakeCached(device, block_bytes, bytes)) return cached;
  if (void* fresh = TakeNew(device, block_bytes, bytes)) return fresh;
  ThrowOutOfMemory(device, bytes);
}

void* BlockPool::TakeCached(c10::DeviceIndex index, size_t bytes, size_t requested) {
  const std::lock_guard lock(mutex_);
  Device& device = At(index);
  Block* block = FindFree(device, bytes);
  if (!block && bytes <= kSmallBytes && device.open &&
      device.open->bytes - device.open->cut >= bytes) {
    block = Cut(index, *device.open, bytes);
  }
  return block ? Use(device, block, requested) : nullptr;
}

BlockPool::Block* BlockPool::FindFree(Device& device, size_t bytes) {
  const auto found = device.free.lower_bound(bytes);
  if (found == device.free.end() || found->first > bytes + bytes / 4) return nullptr;
  Block* block = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) device.free.erase(found);
  return block;
}

BlockPool::Block* BlockPool::Cut(c10::DeviceIndex index, Segment& segment, size_t bytes) {
  auto block = std::make_unique<Block>(Block{.memory = segment.memory + segment.cut,
                                             .bytes = bytes,
                                             .requested = 0,
                                             .segment = &segment,
                                             .device = index,
                                             .streams = {}});
  segment.cut += bytes;
  Block* result = block.get();
  blocks_[result->memory] = std::move(block);
  return result;
}

void* BlockPool::Use(Device& device, Block* block, size_t requested) {
  block->requested = requested;
  ++block->segment->live;
  Count(device, *block, true);
  return block->memory;
}

void* BlockPool::TakeNew(c10::DeviceIndex index, size_t bytes, size_t requested) {
  const bool small = bytes <= kSmallBytes;
  const size_t segment_bytes = small ? kSegmentBytes : bytes;
  if (!MayReserve(index, segment_bytes)) return nullptr;
  void* memory = nullptr;
  {
    const DeviceScope scope(index);
    if (npuMalloc(&memory, segment_bytes) != NPU_SUCCESS) return nullptr;
  }
  const std::lock_guard lock(mutex_);
  Device& device = At(index);
  device.segments.push_back(std::make_unique<Segment>(
      Segment{.memory = static_cast<char*>(memory), .bytes = segment_bytes, .small = small}));
  Segment& segment = *device.segments.back();
  if (small) device.open = &segment;
  CountSegment(device, segment, true);
  return Use(device, Cut(index, segment, bytes), requested);
}

void BlockPool::Free(void* pointer) noexcept {
  if (!pointer) return;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(pointer);
  if (found == blocks_.end()) return;
  Block* block = found->second.get();
  Device& device = At(block->device);
  Count(device, *block, false);
  if (block->streams.empty()) {
    GiveBack(device, block);
  } else {
    device.awaited.push_back({block, {}});
  }
}

void BlockPool::GiveBack(Device& device, Block* block) {
  --block->segment->live;
  device.free[block->bytes].push_back(block);
}

c10::DeviceIndex BlockPool::DeviceOf(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(pointer);
  return found == blocks_.end() ? -1 : found->second->device;
}

std::vector<void*> BlockPool::TakeUnusedSegments(Device& device) {
  const auto unused = [](const Block* block) { return block->segment->live == 0; };
  std::vector<void*> memory;
  for (auto entry = device.free.begin(); entry != device.free.end();) {
    std::vector<Block*>& list = entry->second;
    for (const Block* block : list) {
      if (unused(block)) memory.push_back(block->memory);
    }
    std::erase_if(list, unused);
    entry = list.empty() ? device.free.erase(entry) : std::next(entry);
  }
  for (const void* block : memory) blocks_.erase(block);
  memory.clear();
  std::erase_if(device.segments, [&](const std::unique_ptr<Segment>& segment) {
    if (segment->live != 0) return false;
    if (device.open == segment.get()) device.open = nullptr;
    CountSegment(device, *segment, false);
    memory.push_back(segment->memory);
    return true;
  });
  return memory;
}

void BlockPool::Trim(c10::DeviceIndex device) {
  SynchronizeDevice(device);
  CollectAwaited(device);
  std::vector<void*> memory;
  {
    const std::lock_guard lock(mutex_);
    memory = TakeUnusedSegments(At(device));
  }
  for (void* segment : memory) npuFree(segment);
}

}  // namespace npu_backend
