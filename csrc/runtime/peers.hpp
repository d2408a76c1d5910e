// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/npu_runtime.h"

namespace npu::runtime {

/// Other processes that kernels of this one may wait for.
class Peers {
 public:
  static Peers& Get();

  npuError_t Add(const char* function, npuPeerWatch watch, void* owner);
  npuError_t Remove(const char* function, void* owner);
  bool Any() const { return count_.load(std::memory_order_acquire) != 0; }
  /// What a watch has to tell about a process that has ended; "" when nothing.
  std::string Lost();

 private:
  struct Entry {
    npuPeerWatch watch;
    void* owner;
  };

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::atomic<size_t> count_{0};
};

}  // namespace npu::runtime
