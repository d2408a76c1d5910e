// SPDX-License-Identifier: Apache-2.0
#include "runtime/random_order.hpp"

#include <atomic>
#include <mutex>

namespace npu::runtime {
namespace {

std::mutex mutex;
std::optional<uint64_t> current_seed;
std::atomic<bool> is_on{false};  // each launch asks: a lock takes longer

}  // namespace

bool StartRandomOrder(uint64_t seed) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (current_seed) return false;
  current_seed = seed;
  is_on.store(true, std::memory_order_release);
  return true;
}

void StopRandomOrder() {
  const std::lock_guard<std::mutex> lock(mutex);
  current_seed.reset();
  is_on.store(false, std::memory_order_release);
}

std::optional<uint64_t> RandomOrderSeed() {
  if (!is_on.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex);
  return current_seed;
}

}  // namespace npu::runtime
