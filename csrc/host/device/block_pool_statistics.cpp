// SPDX-License-Identifier: Apache-2.0
#include <c10/util/Exception.h>

#include <algorithm>

#include "device/block_pool.h"
#include "device/device.h"

namespace npu_backend {
namespace {

using c10::CachingAllocator::format_size;
using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;

/// Counts amount for the device as a whole and for the pool of small or large blocks.
void Change(StatArray& statistic, bool small, bool increase, size_t amount) {
  const StatType pool = small ? StatType::SMALL_POOL : StatType::LARGE_POOL;
  for (const StatType type : {StatType::AGGREGATE, pool}) {
    Stat& stat = statistic[static_cast<size_t>(type)];
    increase ? stat.increase(amount) : stat.decrease(amount);
  }
}

template <class Function>
void ForEachStat(BlockPool::Stats& stats, Function function) {
  for (StatArray* statistic :
       {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
        &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
        &stats.inactive_split_bytes, &stats.requested_bytes}) {
    for (Stat& stat : *statistic) function(stat);
  }
  function(stats.oversize_allocations);
  function(stats.oversize_segments);
}

}  // namespace

void BlockPool::CountAllocated(Device& device, const Block& block, bool allocated) {
  const bool small = block.segment->small;
  Change(device.stats.allocation, small, allocated, 1);
  Change(device.stats.allocated_bytes, small, allocated, block.bytes);
}

void BlockPool::CountActive(Device& device, const Block& block, bool active) {
  const bool small = block.segment->small;
  Change(device.stats.active, small, active, 1);
  Change(device.stats.active_bytes, small, active, block.bytes);
  Change(device.stats.requested_bytes, small, active, block.requested);
}

void BlockPool::CountSegment(Device& device, const Segment& segment, bool reserved) {
  ++(reserved ? device.stats.num_device_alloc : device.stats.num_device_free);
  Change(device.stats.segment, segment.small, reserved, 1);
  Change(device.stats.reserved_bytes, segment.small, reserved, segment.bytes);
}

void BlockPool::CountIdle(Device& device, const Segment& segment, Idle before) {
  const Idle after = IdleOf(segment);
  const auto count = [&segment](StatArray& statistic, size_t from, size_t to) {
    if (from != to) Change(statistic, segment.small, to > from, to > from ? to - from : from - to);
  };
  count(device.stats.inactive_split, before.blocks, after.blocks);
  count(device.stats.inactive_split_bytes, before.bytes, after.bytes);
}

void BlockPool::CountRetry(c10::DeviceIndex index) {
  const std::lock_guard lock(mutex_);
  ++At(index).stats.num_alloc_retries;
  ++At(index).stats.num_sync_all_streams;
}

BlockPool::Stats BlockPool::StatsOf(c10::DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  return At(device).stats;
}

void BlockPool::ResetAccumulated(c10::DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  Stats& stats = At(device).stats;
  ForEachStat(stats, [](Stat& stat) { stat.reset_accumulated(); });
  stats.num_alloc_retries = 0;
  stats.num_ooms = 0;
  stats.num_sync_all_streams = 0;
  stats.num_device_alloc = 0;
  stats.num_device_free = 0;
}

void BlockPool::ResetPeak(c10::DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  ForEachStat(At(device).stats, [](Stat& stat) { stat.reset_peak(); });
}

void BlockPool::SetLimit(c10::DeviceIndex device, size_t bytes) {
  const std::lock_guard lock(mutex_);
  At(device).limit = bytes;
}

bool BlockPool::MayReserve(c10::DeviceIndex index, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const Device& device = At(index);
  const size_t reserved = static_cast<size_t>(device.stats.reserved_bytes[0].current);
  return reserved <= device.limit && bytes <= device.limit - reserved;
}

void BlockPool::ThrowOutOfMemory(c10::DeviceIndex index, size_t requested) {
  size_t free = 0;
  size_t total = 0;
  {
    const DeviceScope scope(index);
    npuMemGetInfo(&free, &total);
  }
  const std::lock_guard lock(mutex_);
  Device& device = At(index);
  ++device.stats.num_ooms;
  const auto bytes = [](const StatArray& statistic) {
    return static_cast<uint64_t>(statistic[0].current);
  };
  const uint64_t allocated = bytes(device.stats.allocated_bytes);
  const uint64_t reserved = bytes(device.stats.reserved_bytes);
  const bool is_limited = device.limit < total;
  const size_t left = device.limit > reserved ? device.limit - reserved : 0;
  const std::string limit =
      is_limited ? ", limit of this process " + format_size(device.limit) : std::string();
  TORCH_CHECK_WITH(OutOfMemoryError, false, "npu out of memory: expected ", format_size(requested),
                   " to be free on npu:", static_cast<int>(index), ", got ",
                   format_size(is_limited ? std::min(left, free) : free), " of ",
                   format_size(total), " (tensors hold ", format_size(allocated),
                   ", the cache holds ", format_size(reserved - allocated), limit, ")");
}

}  // namespace npu_backend
