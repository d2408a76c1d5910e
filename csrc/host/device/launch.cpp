// SPDX-License-Identifier: Apache-2.0
#include "device/launch.h"

#include <c10/util/SmallVector.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "device/orphans.h"
#include "device/python_drop.h"
#include "device/stream.h"
#include "device/twin.h"

namespace npu_backend {
namespace {

constexpr size_t kCacheLine = 64;  // bytes

std::atomic<int64_t> orphaned_bytes = 0;

/// What a queued launch owns: twins, not storages, because dropping a storage that Python has seen
/// takes the interpreter's lock, and the launch may end in any thread.
struct Owner {
  c10::SmallVector<StoragePtr, 6> twins;
  std::vector<StoragePtr> foreign;  // memory of another allocator, for example from DLPack

  void Hold(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_privateuseone()) return;
    c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    if (OwnsTwin(*storage)) {
      twins.push_back(TwinOf(storage));
    } else {
      DropDeferred();
      foreign.push_back(StoragePtr::reclaim_copy(storage));
    }
  }

  ~Owner() {
    for (StoragePtr& twin : twins) {
      // The last reference: the storage is gone, and was counted when it went.
      if (twin.use_count() == 1) AddOrphanedBytes(-static_cast<int64_t>(twin->nbytes()));
      twin.reset();
    }
    for (StoragePtr& storage : foreign) DropSeen(std::move(storage));
  }
};

void Release(void* owner) { delete static_cast<Owner*>(owner); }

void LaunchOwning(npuLaunchConfig& config, std::unique_ptr<Owner> owner) {
  config.release = &Release;
  config.owner = owner.release();
  Check(npuLaunchKernelWithConfig(&config));
}

}  // namespace

int64_t OrphanedBytes() noexcept { return orphaned_bytes.load(std::memory_order_relaxed); }
void AddOrphanedBytes(int64_t bytes) noexcept {
  orphaned_bytes.fetch_add(bytes, std::memory_order_relaxed);
}
void ResetOrphanedBytes() noexcept { orphaned_bytes.store(0, std::memory_order_relaxed); }

void LaunchOnHostMemory(npuLaunchConfig& config) {
  ThrowIfForked();
  if (config.stream == nullptr) Check(npuStreamGetDefault(0, &config.stream));
  Check(npuLaunchKernelWithConfig(&config));
  Check(npuStreamSynchronize(config.stream));
}

void LaunchHolding(npuLaunchConfig& config, c10::ArrayRef<at::Tensor> tensors) {
  ThrowIfForked();
  auto owner = std::make_unique<Owner>();
  for (const at::Tensor& tensor : tensors) owner->Hold(tensor);
  LaunchOwning(config, std::move(owner));
}

npuMemoryRange StorageRange(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  const auto* begin = static_cast<const char*>(storage.data());
  const size_t requested = storage.nbytes();
  size_t bytes = requested;
  if (tensor.is_privateuseone()) bytes = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  return {begin, begin + bytes, begin + requested};
}

void Launch(npuKernel_t kernel, uint32_t block_dim, const void* args, size_t args_bytes,
            const at::Tensor& output, c10::ArrayRef<at::Tensor> keep_alive, uint32_t flags) {
  npuLaunchConfig config = {};
  config.kernel = kernel;
  config.block_dim = block_dim;
  config.flags = flags | NPU_LAUNCH_ONLY_RANGES;
  config.args = args;
  config.args_bytes = args_bytes;
  c10::SmallVector<npuMemoryRange, 6> ranges = {StorageRange(output)};
  for (const at::Tensor& tensor : keep_alive) {
    if (tensor.defined()) ranges.push_back(StorageRange(tensor));
  }
  config.ranges = ranges.data();
  config.range_count = ranges.size();
  if (!output.is_privateuseone()) return LaunchOnHostMemory(config);
  ThrowIfForked();
  config.stream = CurrentNativeStream(output.device().index());
  auto owner = std::make_unique<Owner>();
  owner->Hold(output);
  for (const at::Tensor& tensor : keep_alive) owner->Hold(tensor);
  LaunchOwning(config, std::move(owner));
}

}  // namespace npu_backend
