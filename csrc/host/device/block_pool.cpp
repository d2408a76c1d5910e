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
  const size_t index = static_cast<uint8_t>(device);
  while (devices_.size() <= index) devices_.push_back(std::make_unique<Device>());
  return *devices_[index];
}

void* BlockPool::Allocate(c10::DeviceIndex device, size_t bytes) {
  ThrowIfForked();
  if (bytes == 0) return nullptr;
  if (bytes > size_t{1} << 62) ThrowOutOfMemory(device, bytes);  // BlockBytes must not overflow
  const size_t block_bytes = IsReplaced() ? bytes : BlockBytes(bytes);
  CollectAwaited(device);
  if (void* cached = TakeCached(device, block_bytes, bytes)) return cached;
  if (OrphanedBytes() > kOrphanedBytes) {
    SynchronizeDevice(device);
    ResetOrphanedBytes();
    if (void* cached = TakeCached(device, block_bytes, bytes)) return cached;
  }
  if (void* fresh = TakeNew(device, block_bytes, bytes)) return fresh;
  Trim(device);
  CountRetry(device);
  if (void* cached = TakeCached(device, block_bytes, bytes)) return cached;
  if (void* fresh = TakeNew(device, block_bytes, bytes)) return fresh;
  ThrowOutOfMemory(device, bytes);
}

void* BlockPool::TakeCached(c10::DeviceIndex index, size_t bytes, size_t requested) {
  const std::lock_guard lock(mutex_);
  Device& device = At(index);
  Arena& arena = ArenaOf(device, ArenaInUse(index));
  if (Block* block = FindFree(arena, bytes)) {
    return Use(device, block, requested, /*was_free=*/true);
  }
  Segment* open = arena.open;
  if (bytes > kSmallBytes || !open || open->bytes - open->cut < bytes) return nullptr;
  return Use(device, Cut(index, *open, bytes), requested, /*was_free=*/false);
}

BlockPool::Block* BlockPool::FindFree(Arena& arena, size_t bytes) {
  for (auto list = arena.free.lower_bound(bytes);
       list != arena.free.end() && list->first <= bytes + bytes / 4; ++list) {
    if (list->second.empty()) continue;  // kept: one is made and freed over and over
    Block* block = list->second.back();
    list->second.pop_back();
    return block;
  }
  return nullptr;
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

void* BlockPool::Use(Device& device, Block* block, size_t requested, bool was_free) {
  block->requested = requested;
  Segment& segment = *block->segment;
  const Idle idle_before = IdleOf(segment);
  if (was_free) --segment.free;
  ++segment.live;
  segment.live_bytes += block->bytes;
  CountIdle(device, segment, idle_before);
  CountAllocated(device, *block, true);
  CountActive(device, *block, true);
  return block->memory;
}

void* BlockPool::TakeNew(c10::DeviceIndex index, size_t bytes, size_t requested) {
  const bool small = bytes <= kSmallBytes && !IsReplaced();
  const size_t segment_bytes = small ? kSegmentBytes : bytes;
  if (!MayReserve(index, segment_bytes)) return nullptr;
  const ArenaId id = ArenaInUse(index);
  void* memory = AllocateFromSource(index, SourceOf(id), segment_bytes);
  if (!memory) return nullptr;
  const std::lock_guard lock(mutex_);
  Device& device = At(index);
  Arena& arena = ArenaOf(device, id);
  arena.segments.push_back(std::make_unique<Segment>(Segment{.memory = static_cast<char*>(memory),
                                                             .bytes = segment_bytes,
                                                             .small = small,
                                                             .arena = &arena}));
  Segment& segment = *arena.segments.back();
  if (small) arena.open = &segment;
  CountSegment(device, segment, true);
  return Use(device, Cut(index, segment, bytes), requested, /*was_free=*/false);
}

void BlockPool::Free(void* pointer) noexcept {
  if (!pointer) return;
  std::vector<Unused> unused;
  c10::DeviceIndex index = -1;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(pointer);
    if (found == blocks_.end()) return;
    Block* block = found->second.get();
    index = block->device;
    Device& device = At(index);
    CountAllocated(device, *block, false);
    if (!block->streams.empty()) {
      device.awaited.push_back({block, {}});
      awaits_.store(true, std::memory_order_relaxed);
      return;
    }
    Arena& arena = *block->segment->arena;
    GiveBack(device, block);
    if (IsReplaced()) unused = TakeUnusedSegments(device, arena);
  }
  GiveBackToSource(index, unused);
}

void BlockPool::GiveBack(Device& device, Block* block) {
  CountActive(device, *block, false);
  block->requested = 0;
  Segment& segment = *block->segment;
  const Idle idle_before = IdleOf(segment);
  --segment.live;
  segment.live_bytes -= block->bytes;
  ++segment.free;
  CountIdle(device, segment, idle_before);
  segment.arena->free[block->bytes].push_back(block);
}

c10::DeviceIndex BlockPool::DeviceOf(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(pointer);
  return found == blocks_.end() ? -1 : found->second->device;
}

std::vector<BlockPool::Unused> BlockPool::TakeUnusedSegments(Device& device, Arena& arena) {
  const auto unused = [](const Block* block) { return block->segment->live == 0; };
  std::vector<const void*> gone;
  for (auto entry = arena.free.begin(); entry != arena.free.end();) {
    std::vector<Block*>& list = entry->second;
    for (const Block* block : list) {
      if (unused(block)) gone.push_back(block->memory);
    }
    std::erase_if(list, unused);
    entry = list.empty() ? arena.free.erase(entry) : std::next(entry);
  }
  for (const void* block : gone) blocks_.erase(block);
  std::vector<Unused> result;
  std::erase_if(arena.segments, [&](const std::unique_ptr<Segment>& segment) {
    if (segment->live != 0) return false;
    if (arena.open == segment.get()) arena.open = nullptr;
    CountSegment(device, *segment, false);
    result.push_back({segment->memory, segment->bytes, arena.source});
    return true;
  });
  return result;
}

void BlockPool::Trim(c10::DeviceIndex device) {
  SynchronizeDevice(device);
  CollectAwaited(device);
  std::vector<Unused> unused;
  {
    const std::lock_guard lock(mutex_);
    Device& own = At(device);
    for (auto& [id, arena] : own.arenas) {
      if (id != kOrdinaryArena && !arena.dropped) continue;
      const std::vector<Unused> more = TakeUnusedSegments(own, arena);
      unused.insert(unused.end(), more.begin(), more.end());
    }
  }
  GiveBackToSource(device, unused);
}

}  // namespace npu_backend
