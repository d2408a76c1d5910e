// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "npu/kernel.h"
#include "runtime/status.hpp"

namespace npu::runtime {

/// Bytes of kernel parameters, in place while they are few.
class LaunchArgs {
 public:
  void Assign(const void* bytes, size_t count);
  void Clear() { large_.reset(); }
  const void* data() const { return large_ ? large_.get() : small_; }

 private:
  alignas(16) std::byte small_[768];  // holds the tiling of an element-wise kernel
  std::unique_ptr<std::byte[]> large_;
};

/// Memory that a launch has made known, in place while it is few.
class LaunchRanges {
 public:
  void Assign(const npuMemoryRange* ranges, size_t count);
  void Clear() {
    large_.reset();
    count_ = 0;
  }
  const npuMemoryRange* begin() const { return large_ ? large_.get() : small_; }
  const npuMemoryRange* end() const { return begin() + count_; }

 private:
  static constexpr size_t kSmall = 8;
  npuMemoryRange small_[kSmall];
  std::unique_ptr<npuMemoryRange[]> large_;
  size_t count_ = 0;
};

/// One run of a kernel over its blocks, as it stands in a queue.
struct Launch {
  npuKernel_t kernel = nullptr;
  uint32_t block_dim = 0;
  uint32_t flags = 0;
  LaunchArgs args;
  LaunchRanges ranges;
};

/// Checks kernel, block_dim, flags, args and ranges of config.
npuError_t CheckLaunch(const char* function, const npuLaunchConfig& config);

/// Counts launches that have run to their end, by kernel name, over all streams. One per stream, so
/// that the entry of the kernel that ran last is at hand.
class LaunchCounter {
 public:
  void Add(const char* name);
  static uint64_t Get(const char* name);
  static uint64_t Total();

 private:
  const std::string* name_ = nullptr;
  std::atomic<uint64_t>* count_ = nullptr;
};

}  // namespace npu::runtime
