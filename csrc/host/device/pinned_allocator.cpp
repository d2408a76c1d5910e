// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/CachingHostAllocator.h>
#include <c10/util/Exception.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "device/allocator.h"
#include "device/device.h"
#include "device/install.h"
#include "device/stream.h"

namespace npu_backend {
namespace {

constexpr size_t kPageBytes = 4096;

/// Microseconds that function takes.
template <class Function>
int64_t Microseconds(Function function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  const auto taken = std::chrono::steady_clock::now() - start;
  return std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
}

/// Memory of the host; nothing is locked, for the device shares it anyway. The ranges tell
/// is_pinned(). Freed memory goes back at once, unless a copy on some stream still uses it.
class HostPinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &Free, cpu};
    TORCH_CHECK_WITH(OutOfMemoryError, bytes <= SIZE_MAX / 2,
                     "npu: expected a size of pinned memory, got ", bytes);
    empty_cache();
    const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* memory = nullptr;
    const int64_t taken = Microseconds([&] { memory = std::aligned_alloc(kPageBytes, rounded); });
    TORCH_CHECK_WITH(OutOfMemoryError, memory, "npu: expected ", bytes,
                     " bytes of pinned memory, got none from the system");
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<char*>(memory)] = {.bytes = rounded, .is_free = false, .events = {}};
    ++stats_.num_host_alloc;
    stats_.host_alloc_time.increase(taken);
    stats_.allocations.increase(1);
    stats_.allocated_bytes.increase(rounded);
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(rounded);
    return {memory, memory, &Free, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  bool record_event(void* pointer, void*, c10::Stream stream) override {
    npuEvent_t event = nullptr;
    Check(npuEventCreate(&event));
    const npuError_t error = npuEventRecord(event, NativeStream(stream));
    const std::lock_guard lock(mutex_);
    const auto block = Find(static_cast<const char*>(pointer));
    if (error == NPU_SUCCESS && block != blocks_.end()) {
      block->second.events.push_back(event);
      return true;
    }
    npuEventDestroy(event);
    return false;
  }

  /// Gives freed memory back that no stream uses any more.
  void empty_cache() override {
    const std::lock_guard lock(mutex_);
    if (awaited_ == 0) return;
    for (auto block = blocks_.begin(); block != blocks_.end();) {
      const auto next = std::next(block);
      if (block->second.is_free && Happened(block->second)) {
        --awaited_;
        GiveBack(block);
      }
      block = next;
    }
  }

  at::HostStats get_stats() override {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_accumulated_stats() override {
    const std::lock_guard lock(mutex_);
    for (auto* stat : CountersOf()) stat->reset_accumulated();
    stats_.host_alloc_time.reset_accumulated();
    stats_.host_free_time.reset_accumulated();
    stats_.num_host_alloc = 0;
    stats_.num_host_free = 0;
  }

  void reset_peak_stats() override {
    const std::lock_guard lock(mutex_);
    for (auto* stat : CountersOf()) stat->reset_peak();
    stats_.host_alloc_time.reset_peak();
    stats_.host_free_time.reset_peak();
  }

  bool Holds(const char* pointer) {
    const std::lock_guard lock(mutex_);
    return Find(pointer) != blocks_.end();
  }

  std::mutex& Mutex() { return mutex_; }

  static HostPinnedAllocator& Get() {
    static auto& allocator = *new HostPinnedAllocator;
    return allocator;
  }

 private:
  struct Block {
    size_t bytes;
    bool is_free;
    std::vector<npuEvent_t> events;  // behind the copies that use it
  };
  using Blocks = std::map<char*, Block>;  // by where they begin

  static void Free(void* memory) { Get().FreeBlock(static_cast<char*>(memory)); }

  void FreeBlock(char* memory) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(memory);
    if (block == blocks_.end()) return;
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(block->second.bytes);
    if (Happened(block->second)) return GiveBack(block);
    block->second.is_free = true;
    ++awaited_;
  }

  void GiveBack(Blocks::iterator block) {
    stats_.allocations.decrease(1);
    stats_.allocated_bytes.decrease(block->second.bytes);
    ++stats_.num_host_free;
    stats_.host_free_time.increase(Microseconds([&] { std::free(block->first); }));
    blocks_.erase(block);
  }

  static bool Happened(Block& block) {
    std::erase_if(block.events, [](npuEvent_t event) {
      if (npuEventQuery(event) == NPU_ERROR_NOT_READY) return false;
      npuEventDestroy(event);
      return true;
    });
    return block.events.empty();
  }

  Blocks::iterator Find(const char* pointer) {
    auto block = blocks_.upper_bound(const_cast<char*>(pointer));
    if (block == blocks_.begin()) return blocks_.end();
    --block;
    return pointer < block->first + block->second.bytes ? block : blocks_.end();
  }

  std::array<c10::CachingAllocator::Stat*, 4> CountersOf() {
    return {&stats_.allocations, &stats_.allocated_bytes, &stats_.active_requests,
            &stats_.active_bytes};
  }

  std::mutex mutex_;
  Blocks blocks_;
  size_t awaited_ = 0;  // freed blocks that a stream still uses
  at::HostStats stats_;
};

}  // namespace

c10::Allocator* PinnedAllocator() { return &HostPinnedAllocator::Get(); }

bool IsPinned(const void* pointer) {
  return pointer && HostPinnedAllocator::Get().Holds(static_cast<const char*>(pointer));
}

void KeepPinnedUntil(const void* pointer, c10::Stream stream) {
  HostPinnedAllocator::Get().record_event(const_cast<void*>(pointer), nullptr, stream);
}

std::mutex& PinnedMutex() { return HostPinnedAllocator::Get().Mutex(); }

void InstallPinnedAllocator() {
  at::setHostAllocator(c10::DeviceType::PrivateUse1, &HostPinnedAllocator::Get());
}

}  // namespace npu_backend
