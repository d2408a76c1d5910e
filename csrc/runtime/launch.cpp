// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "npu/core_layout.hpp"

namespace npu::runtime {
namespace {

constexpr size_t kArgsAlignment = 8;

struct LaunchCounts {
  std::mutex mutex;
  std::map<std::string, std::atomic<uint64_t>, std::less<>> counts;  // entries never move
};

LaunchCounts& GetLaunchCounts() {
  static auto* const counts = new LaunchCounts;  // outlives static destructors
  return *counts;
}

npuError_t CheckPass(const char* function, const npuLaunchConfig& config,
                     const npuKernelPass* pass) {
  if (pass == nullptr) return NPU_SUCCESS;
  if (pass->run == nullptr) {
    return Invalid(function, "passes with an entry",
                   std::string(config.kernel->name) + " with one without");
  }
  if (pass->core_layout != 0 && pass->core_layout != kCoreLayout) {
    return Invalid(function, "a kernel compiled with the headers of this runtime",
                   std::string(config.kernel->name) + ", compiled with others; compile it again");
  }
  const size_t low = pass->args_bytes;
  const size_t high = (low + kArgsAlignment - 1) / kArgsAlignment * kArgsAlignment;
  if (config.args_bytes >= low && config.args_bytes <= high) return NPU_SUCCESS;
  std::string expected = std::to_string(low);
  if (high != low) expected += " to " + std::to_string(high);
  return Invalid(function, "args_bytes of " + expected + " for kernel " + config.kernel->name,
                 config.args_bytes);
}

npuError_t CheckRanges(const char* function, const npuLaunchConfig& config) {
  if (config.ranges == nullptr && config.range_count != 0) {
    return Invalid(function, std::to_string(config.range_count) + " memory ranges", "NULL");
  }
  for (size_t i = 0; i < config.range_count; ++i) {
    const npuMemoryRange& range = config.ranges[i];
    if (std::less<>()(range.end, range.begin)) {
      return Invalid(function, "memory ranges that end behind their begin",
                     "range " + std::to_string(i) + " with its end before");
    }
  }
  return NPU_SUCCESS;
}

}  // namespace

void LaunchArgs::Assign(const void* bytes, size_t count) {
  large_.reset();
  if (count > sizeof(small_)) large_ = std::make_unique<std::byte[]>(count);
  if (count != 0) std::memcpy(large_ ? large_.get() : small_, bytes, count);
}

void LaunchRanges::Assign(const npuMemoryRange* ranges, size_t count) {
  large_.reset();
  if (count > kSmall) large_ = std::make_unique<npuMemoryRange[]>(count);
  std::copy_n(ranges, count, large_ ? large_.get() : small_);
  count_ = count;
}

npuError_t CheckLaunch(const char* function, const npuLaunchConfig& config) {
  const npuKernel_t kernel = config.kernel;
  if (kernel == nullptr) return Invalid(function, "a kernel", "NULL");
  if (kernel->name == nullptr) return Invalid(function, "a kernel with a name", "NULL");
  if (kernel->vector == nullptr && kernel->cube == nullptr) {
    return Invalid(function, "a kernel with a vector or a cube pass",
                   std::string(kernel->name) + " with neither");
  }
  if (config.block_dim == 0 || config.block_dim > NPU_MAX_BLOCK_DIM) {
    return Invalid(function, "a block_dim of 1 to " + std::to_string(NPU_MAX_BLOCK_DIM),
                   config.block_dim);
  }
  if ((config.flags & ~(NPU_LAUNCH_FLOAT64 | NPU_LAUNCH_ONLY_RANGES)) != 0) {
    return Invalid(function,
                   "launch flags of NPU_LAUNCH_FLOAT64 (1) and NPU_LAUNCH_ONLY_RANGES (2)",
                   config.flags);
  }
  if (config.args == nullptr && config.args_bytes != 0) {
    return Invalid(function, std::to_string(config.args_bytes) + " bytes of args", "NULL");
  }
  npuError_t error = CheckRanges(function, config);
  if (error == NPU_SUCCESS) error = CheckPass(function, config, kernel->vector);
  return error != NPU_SUCCESS ? error : CheckPass(function, config, kernel->cube);
}

void LaunchCounter::Add(const char* name) {
  if (name_ == nullptr || *name_ != name) {
    LaunchCounts& counts = GetLaunchCounts();
    const std::lock_guard<std::mutex> lock(counts.mutex);
    auto found = counts.counts.find(std::string_view(name));
    if (found == counts.counts.end()) found = counts.counts.try_emplace(name, 0).first;
    name_ = &found->first;
    count_ = &found->second;
  }
  count_->fetch_add(1, std::memory_order_relaxed);
}

uint64_t LaunchCounter::Get(const char* name) {
  LaunchCounts& counts = GetLaunchCounts();
  const std::lock_guard<std::mutex> lock(counts.mutex);
  const auto found = counts.counts.find(std::string_view(name));
  return found == counts.counts.end() ? 0 : found->second.load(std::memory_order_relaxed);
}

uint64_t LaunchCounter::Total() {
  LaunchCounts& counts = GetLaunchCounts();
  const std::lock_guard<std::mutex> lock(counts.mutex);
  uint64_t total = 0;
  for (const auto& [name, count] : counts.counts) total += count.load(std::memory_order_relaxed);
  return total;
}

}  // namespace npu::runtime
