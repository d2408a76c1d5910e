// SPDX-License-Identifier: Apache-2.0
#include "runtime/random_order.hpp"

#include <mutex>

namespace npu::runtime {
namespace {

std::mutex mutex;
std::optional<uint64_t> current_seed;

}  // namespace

bool StartRandomOrder(uint64_t seed) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (current_seed) return false;
  current_seed = seed;
  return true;
}

void StopRandomOrder() {
  const std::lock_guard<std::mutex> lock(mutex);
  current_seed.reset();
}

std::optional<uint64_t> RandomOrderSeed() {
  const std::lock_guard<std::mutex> lock(mutex);
  return current_seed;
}

}  // namespace npu::runtime
