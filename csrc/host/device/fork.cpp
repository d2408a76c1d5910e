// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "device/allocator.h"
#include "device/block_pool.h"
#include "device/device.h"
#include "device/install.h"
#include "device/shared_memory.h"

namespace npu_backend {
namespace {

void BeforeFork() {
  PinnedMutex().lock();
  SharedMemoryMutex().lock();
  BlockPool::Get().Mutex().lock();
}
void AfterFork() {
  BlockPool::Get().Mutex().unlock();
  SharedMemoryMutex().unlock();
  PinnedMutex().unlock();
}

}  // namespace

void InstallForkHandlers() { pthread_atfork(&BeforeFork, &AfterFork, &AfterFork); }

bool IsUsed() noexcept {
  int is_user = 0;
  return npuProcessIsUser(&is_user) == NPU_SUCCESS && is_user != 0;
}

bool IsForked() noexcept { return npuProcessCheck() == NPU_ERROR_FORKED; }

void ThrowIfForked() { Check(npuProcessCheck()); }

}  // namespace npu_backend
