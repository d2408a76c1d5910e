// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/CachingHostAllocator.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <optional>
#include <vector>

#include "device/allocator.h"
#include "device/block_pool.h"
#include "device/device.h"
#include "device/registration.h"
#include "device/stream.h"

/// What torch.npu.memory needs and PyTorch has no interface for, as operators of namespace
/// npu_backend.
namespace npu_backend {
namespace {

int64_t Allocate(int64_t device, int64_t bytes) {
  TORCH_CHECK_VALUE(bytes >= 0,
                    "torch.npu.caching_allocator_alloc: expected a size of at least 0 bytes, got ",
                    bytes);
  void* memory = BlockPool::Get().Allocate(CheckedIndex(device), static_cast<size_t>(bytes));
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
}

void Free(int64_t address) {
  void* memory = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  TORCH_CHECK_VALUE(memory == nullptr || BlockPool::Get().IsInUse(memory),
                    "torch.npu.caching_allocator_delete: expected an address from "
                    "caching_allocator_alloc, got ",
                    memory);
  BlockPool::Get().Free(memory);
}

MemorySource SourceAt(int64_t allocate, int64_t free) {
  MemorySource source;
  source.allocate = reinterpret_cast<decltype(source.allocate)>(static_cast<uintptr_t>(allocate));
  source.free = reinterpret_cast<decltype(source.free)>(static_cast<uintptr_t>(free));
  return source;
}

void Append(std::vector<int64_t>& values, const c10::CachingAllocator::Stat& stat) {
  values.insert(values.end(), {stat.current, stat.peak, stat.allocated, stat.freed});
}

void Append(std::vector<int64_t>& values, const c10::CachingAllocator::DurationStat& stat) {
  values.insert(values.end(), {stat.total, stat.max, stat.min, stat.count});
}

at::HostAllocator& Pinned() { return static_cast<at::HostAllocator&>(*PinnedAllocator()); }

/// Four numbers each: allocations, their bytes, active ones, their bytes, times to allocate and to
/// free; then the numbers of calls to allocate and to free.
std::vector<int64_t> HostStatistics() {
  const at::HostStats stats = Pinned().get_stats();
  std::vector<int64_t> values;
  for (const auto* stat :
       {&stats.allocations, &stats.allocated_bytes, &stats.active_requests, &stats.active_bytes}) {
    Append(values, *stat);
  }
  Append(values, stats.host_alloc_time);
  Append(values, stats.host_free_time);
  values.insert(values.end(), {stats.num_host_alloc, stats.num_host_free});
  return values;
}

void ResetHostStatistics(bool peaks) {
  peaks ? Pinned().reset_peak_stats() : Pinned().reset_accumulated_stats();
}

void Define() {
  torch::Library& own = Extend("npu_backend");
  own.def("allocate(int device, int bytes) -> int", &Allocate);
  own.def("free(int address) -> ()", &Free);
  own.def(
      "memory_snapshot(int device) -> int[]",
      +[](int64_t device) { return BlockPool::Get().Snapshot(CheckedIndex(device)); });
  own.def(
      "new_arena(int allocate, int free) -> int", +[](int64_t allocate, int64_t free) {
        return BlockPool::Get().NewArena(SourceAt(allocate, free));
      });
  own.def("drop_arena(int arena) -> ()", +[](int64_t arena) { BlockPool::Get().DropArena(arena); });
  own.def(
      "use_arena(int device, int arena) -> int", +[](int64_t device, int64_t arena) {
        return BlockPool::Get().UseArena(CheckedIndex(device), arena);
      });
  own.def(
      "replace_memory_source(int allocate, int free) -> ()", +[](int64_t allocate, int64_t free) {
        BlockPool::Get().ReplaceSource(SourceAt(allocate, free));
      });
  own.def("host_memory_statistics() -> int[]", &HostStatistics);
  own.def("reset_host_memory_statistics(bool peaks) -> ()", &ResetHostStatistics);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
