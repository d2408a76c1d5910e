// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/block_pool.h"

namespace npu_backend {
namespace {

enum State : int64_t { kFree = 0, kInUse = 1, kAwaited = 2 };

int64_t Address(const char* memory) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
}

}  // namespace

bool BlockPool::IsAwaited(const Block& block) {
  const std::vector<Awaited>& awaited = At(block.device).awaited;
  return std::any_of(awaited.begin(), awaited.end(),
                     [&block](const Awaited& entry) { return entry.block == &block; });
}

bool BlockPool::IsInUse(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(pointer);
  return found != blocks_.end() && found->second->requested > 0 && !IsAwaited(*found->second);
}

std::vector<int64_t> BlockPool::Snapshot(c10::DeviceIndex index) {
  const std::lock_guard lock(mutex_);
  const Device& device = At(index);
  std::vector<int64_t> rows;
  const auto add = [&rows](const Segment& segment, const char* memory, size_t bytes,
                           size_t requested, State state) {
    for (const int64_t value :
         {Address(segment.memory), static_cast<int64_t>(segment.bytes), int64_t{segment.small},
          segment.arena->id, Address(memory), static_cast<int64_t>(bytes),
          static_cast<int64_t>(requested), static_cast<int64_t>(state)}) {
      rows.push_back(value);
    }
  };
  for (const auto& [memory, block] : blocks_) {
    if (block->device != index) continue;
    const State state = block->requested == 0 ? kFree : IsAwaited(*block) ? kAwaited : kInUse;
    add(*block->segment, block->memory, block->bytes, block->requested, state);
  }
  for (const auto& [id, arena] : device.arenas) {
    for (const std::unique_ptr<Segment>& segment : arena.segments) {
      const size_t rest = segment->bytes - segment->cut;
      if (rest > 0) add(*segment, segment->memory + segment->cut, rest, 0, kFree);
    }
  }
  return rows;
}

}  // namespace npu_backend
