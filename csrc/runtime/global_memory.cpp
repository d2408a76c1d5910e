// SPDX-License-Identifier: Apache-2.0
#include "runtime/global_memory.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include "npu/error.hpp"
#include "runtime/device.hpp"

namespace npu::runtime {
namespace {

constexpr uintptr_t kLowestAddress =
    4096;  // a page, which no process has: null, and what is near it

std::atomic<uint64_t> unknown_transfers = 0;

void RaiseNull(const char* op, uintptr_t at) {
  RaiseFault(
      op, "an address of global memory",
      at == 0 ? "a null pointer" : "a null pointer and " + std::to_string(at) + " bytes behind it");
}

/// at lies in the gap between low and high, ends and begins of the ranges of a launch.
void RaiseElsewhere(const char* op, uintptr_t at, uintptr_t low, uintptr_t high) {
  std::string got = "an address, and no tensor";
  if (low != kLowestAddress && (high == UINTPTR_MAX || at - low < high - at)) {
    got = "one " + std::to_string(at - low) + " bytes past the end of the nearest tensor";
  } else if (high != UINTPTR_MAX) {
    got = "one " + std::to_string(high - at) + " bytes before the nearest tensor";
  }
  RaiseFault(op, "an address within the tensors of the launch (or any_global=True in load)", got);
}

}  // namespace

GlobalMemory FindGlobalMemory(const Launch& launch, const char* op, const void* address) {
  uintptr_t low = kLowestAddress, high = UINTPTR_MAX;  // of the gap
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at < kLowestAddress) RaiseNull(op, at);
  for (const npuMemoryRange& range : launch.ranges) {
    const auto begin = reinterpret_cast<uintptr_t>(range.begin);
    const auto end = reinterpret_cast<uintptr_t>(range.end);
    if (begin <= at && at < end) return {range.begin, range.end, true};
    if (begin == end) continue;
    if (end <= at) low = std::max(low, end);
    if (begin > at) high = std::min(high, begin);
  }
  if ((launch.flags & NPU_LAUNCH_ONLY_RANGES) != 0) RaiseElsewhere(op, at, low, high);
  const GlobalMemory memory = Registry::Get().memory().Find(address);
  if (memory.is_known) return memory;
  low = std::max(low, reinterpret_cast<uintptr_t>(memory.begin));
  high = std::min(high, reinterpret_cast<uintptr_t>(memory.end));
  return {reinterpret_cast<const void*>(low), reinterpret_cast<const void*>(high), false};
}

GlobalMemory FindRequestedMemory(const Launch& launch, const void* address) {
  uintptr_t low = 0, high = UINTPTR_MAX;  // of the gap
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const npuMemoryRange& range : launch.ranges) {
    const auto begin = reinterpret_cast<uintptr_t>(range.begin);
    const auto end = reinterpret_cast<uintptr_t>(range.end);
    if (begin <= at && at < end) {
      return {range.begin, range.requested_end != nullptr ? range.requested_end : range.end, true};
    }
    if (begin == end) continue;
    if (end <= at) low = std::max(low, end);
    if (begin > at) high = std::min(high, begin);
  }
  const GlobalMemory memory = Registry::Get().memory().FindRequested(address);
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
