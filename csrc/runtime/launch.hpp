// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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
  alignas(16) std::byte small_[256];
  std::unique_ptr<std::byte[]> large_;
};

/// One run of a kernel over its blocks, as it stands in a queue.
struct Launch {
  npuKernel_t kernel = nullptr;
  uint32_t block_dim = 0;
  uint32_t flags = 0;
  LaunchArgs args;
};

/// Checks kernel, block_dim, flags, args and stream of config.
npuError_t CheckLaunch(const char* function, const npuLaunchConfig& config);

/// Counts a launch that has run to its end.
void CountLaunch(const char* name);
uint64_t LaunchCount(const char* name);

}  // namespace npu::runtime
