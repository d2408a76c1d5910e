// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "runtime/device.hpp"
#include "runtime/environment.hpp"

namespace npu::runtime {
namespace {

constexpr size_t kAlignment = 64;              // a cache line
constexpr size_t kHugePage = size_t{2} << 20;  // from here on blocks are mapped

/// Memory of a device: the chip's, or the host's where that is less.
size_t TotalBytes() {
  static const size_t total = [] {
    const size_t of_device = GetEnvironment().arch->memory;
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return of_device;
    return std::min(of_device, static_cast<size_t>(pages) * static_cast<size_t>(page));
  }();
  return total;
}

/// bytes (a multiple of kHugePage) that start on a huge page; null when the host has none.
void* MapHuge(size_t bytes) {
  const size_t mapped = bytes + kHugePage;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(base);
  const uintptr_t aligned = (begin + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned != begin) munmap(base, aligned - begin);
  const uintptr_t end = aligned + bytes;
  if (begin + mapped != end) munmap(reinterpret_cast<void*>(end), begin + mapped - end);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

}  // namespace

npuError_t DeviceMemory::Allocate(int device, size_t bytes, void** pointer) {
  *pointer = nullptr;
  if (bytes == 0) return NPU_SUCCESS;
  const std::lock_guard<std::mutex> lock(mutex_);
  used_.resize(static_cast<size_t>(GetEnvironment().device_count));
  size_t& used = used_[static_cast<size_t>(device)];
  const size_t free_bytes = TotalBytes() - used;
  const bool mapped = bytes >= kHugePage;
  const size_t unit = mapped ? kHugePage : kAlignment;
  const size_t rounded = bytes <= free_bytes ? (bytes + unit - 1) / unit * unit : SIZE_MAX;
  if (rounded <= free_bytes) {
    *pointer = mapped ? MapHuge(rounded) : std::aligned_alloc(kAlignment, rounded);
  }
  if (*pointer == nullptr) {
    return Fail(NPU_ERROR_OUT_OF_MEMORY,
                "npuMalloc: expected at most " + std::to_string(free_bytes) +
                    " free bytes of device " + std::to_string(device) + " to be asked for, got " +
                    std::to_string(bytes) +
                    (rounded <= free_bytes ? " (more than the host can give)" : ""));
  }
  try {
    blocks_.emplace(*pointer, Block{device, rounded, mapped, bytes});
  } catch (...) {
    mapped ? static_cast<void>(munmap(*pointer, rounded)) : std::free(*pointer);
    *pointer = nullptr;
    throw;
  }
  used += rounded;
  return NPU_SUCCESS;
}

npuError_t DeviceMemory::Free(void* pointer) {
  if (pointer == nullptr) return NPU_SUCCESS;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto found = blocks_.find(pointer);
  if (found == blocks_.end() || found->second.device == kAdopted) {
    return Invalid("npuFree", "a pointer from npuMalloc", pointer);
  }
  const Block block = found->second;
  blocks_.erase(found);
  used_[static_cast<size_t>(block.device)] -= block.bytes;
  lock.unlock();
  if (block.mapped) {
    munmap(pointer, block.bytes);
  } else {
    std::free(pointer);
  }
  return NPU_SUCCESS;
}

npuError_t DeviceMemory::Adopt(const char* function, void* begin, size_t bytes) {
  if (begin == nullptr || bytes == 0) return Invalid(function, "memory of at least a byte", "none");
  const std::lock_guard<std::mutex> lock(mutex_);
  const char* end = static_cast<const char*>(begin) + bytes;
  const auto next = blocks_.lower_bound(begin);
  const bool hits_next = next != blocks_.end() && static_cast<const char*>(next->first) < end;
  const bool hits_last =
      next != blocks_.begin() &&
      static_cast<const char*>(std::prev(next)->first) + std::prev(next)->second.bytes > begin;
  if (hits_next || hits_last) return Invalid(function, "memory that is not known yet", begin);
  blocks_.emplace(begin, Block{kAdopted, bytes, false, bytes});
  return NPU_SUCCESS;
}

npuError_t DeviceMemory::Disown(const char* function, void* begin) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(begin);
  if (found == blocks_.end() || found->second.device != kAdopted) {
    return Invalid(function, "a pointer from npuMemoryAdopt", begin);
  }
  blocks_.erase(found);
  return NPU_SUCCESS;
}

void DeviceMemory::Info(int device, size_t* free_bytes, size_t* total_bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto index = static_cast<size_t>(device);
  const size_t used = index < used_.size() ? used_[index] : 0;
  *total_bytes = TotalBytes();
  *free_bytes = TotalBytes() - used;
}

GlobalMemory DeviceMemory::Look(const void* address, bool requested) {
  const auto behind = [](void* begin, const Block& block) {
    return static_cast<const void*>(static_cast<std::byte*>(begin) + block.bytes);
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto next = blocks_.upper_bound(const_cast<void*>(address));
  const void* low = nullptr;
  if (next != blocks_.begin()) {
    const auto& [begin, block] = *std::prev(next);
    low = behind(begin, block);
    if (std::less<>()(address, low)) {
      const auto* end = static_cast<const std::byte*>(begin) + block.requested;
      return {begin, requested ? end : low, true};
    }
  }
  const void* high = next != blocks_.end() ? next->first : reinterpret_cast<void*>(UINTPTR_MAX);
  return {low, high, false};
}

}  // namespace npu::runtime
