// SPDX-License-Identifier: Apache-2.0
#include <c10/util/Exception.h>
#include <pthread.h>

#include <atomic>

#include "device/block_pool.h"
#include "device/device.h"
#include "device/install.h"

namespace npu_backend {
namespace {

std::atomic<bool> used = false;
std::atomic<bool> forked = false;

void BeforeFork() { BlockPool::Get().Mutex().lock(); }
void AfterForkInParent() { BlockPool::Get().Mutex().unlock(); }
void AfterForkInChild() {
  BlockPool::Get().Mutex().unlock();
  if (used) forked = true;
}

}  // namespace

void InstallForkHandlers() { pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild); }

void MarkUsed() noexcept { used.store(true, std::memory_order_relaxed); }
bool IsUsed() noexcept { return used.load(std::memory_order_relaxed); }
bool IsForked() noexcept { return forked.load(std::memory_order_relaxed); }

void ThrowIfForked() {
  TORCH_CHECK(!IsForked(),
              "npu: expected a process that was not forked from one that used the device, got a "
              "forked one; to use npu with multiprocessing, use the 'spawn' start method");
}

}  // namespace npu_backend
