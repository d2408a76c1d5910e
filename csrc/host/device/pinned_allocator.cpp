// SPDX-License-Identifier: Apache-2.0
#include <c10/util/Exception.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "device/allocator.h"

namespace npu_backend {
namespace {

constexpr size_t kPageBytes = 4096;

/// Memory of the host; nothing is locked, for the device shares it anyway. The ranges tell
/// is_pinned().
class HostPinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &Free, cpu};
    TORCH_CHECK_WITH(OutOfMemoryError, bytes <= SIZE_MAX / 2,
                     "npu: expected a size of pinned memory, got ", bytes);
    const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    void* memory = std::aligned_alloc(kPageBytes, rounded);
    TORCH_CHECK_WITH(OutOfMemoryError, memory, "npu: expected ", bytes,
                     " bytes of pinned memory, got none from the system");
    const std::lock_guard lock(mutex_);
    ranges_[static_cast<char*>(memory)] = rounded;
    return {memory, memory, &Free, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  bool Holds(const char* pointer) {
    const std::lock_guard lock(mutex_);
    auto range = ranges_.upper_bound(const_cast<char*>(pointer));
    if (range == ranges_.begin()) return false;
    --range;
    return pointer < range->first + range->second;
  }

  static HostPinnedAllocator& Get() {
    static auto& allocator = *new HostPinnedAllocator;
    return allocator;
  }

 private:
  static void Free(void* memory) {
    if (!memory) return;
    HostPinnedAllocator& allocator = Get();
    {
      const std::lock_guard lock(allocator.mutex_);
      allocator.ranges_.erase(static_cast<char*>(memory));
    }
    std::free(memory);
  }

  std::mutex mutex_;
  std::map<char*, size_t> ranges_;  // begin, bytes
};

}  // namespace

c10::Allocator* PinnedAllocator() { return &HostPinnedAllocator::Get(); }

bool IsPinned(const void* pointer) {
  return pointer && HostPinnedAllocator::Get().Holds(static_cast<const char*>(pointer));
}

}  // namespace npu_backend
