// SPDX-License-Identifier: Apache-2.0
#include "runtime/global_memory.hpp"

#include <algorithm>
#include <atomic>

#include "runtime/device.hpp"

namespace npu::runtime {
namespace {

std::atomic<uint64_t> unknown_transfers = 0;

}  // namespace

GlobalMemory FindGlobalMemory(const Launch& launch, const void* address) {
  uintptr_t low = 0, high = UINTPTR_MAX;  // of the gap
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const npuMemoryRange& range : launch.ranges) {
    const auto begin = reinterpret_cast<uintptr_t>(range.begin);
    const auto end = reinterpret_cast<uintptr_t>(range.end);
    if (begin <= at && at < end) return {range.begin, range.end, true};
    if (end <= at) low = std::max(low, end);
    if (begin > at) high = std::min(high, begin);
  }
  const GlobalMemory memory = Registry::Get().memory().Find(address);
  if (memory.is_known) return memory;
  low = std::max(low, reinterpret_cast<uintptr_t>(memory.begin));
  high = std::min(high, reinterpret_cast<uintptr_t>(memory.end));
  return {reinterpret_cast<const void*>(low), reinterpret_cast<const void*>(high), false};
}

uint64_t UnknownTransfers() { return unknown_transfers.load(std::memory_order_relaxed); }

void AddUnknownTransfers(uint64_t count) {
  unknown_transfers.fetch_add(count, std::memory_order_relaxed);
}

}  // namespace npu::runtime
