// SPDX-License-Identifier: Apache-2.0
#include "npu/host_core.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "npu/error.hpp"
#include "runtime/core_slot.hpp"
#include "runtime/environment.hpp"
#include "runtime/global_memory.hpp"

namespace npu {
namespace runtime {
namespace {

std::atomic<bool> host_cores_enabled = false;
std::atomic<const Arch*> host_arch = nullptr;  // null: that of the environment

/// Of cores that are threads: nothing is scheduled, and what needs other cores is a fault.
class HostScheduler final : public CoreScheduler {
 public:
  void SetCrossCoreFlag(Core&, FlagScope, int) override { RaiseAlone("a cross-core flag"); }
  void WaitCrossCoreFlag(Core&, int) override { RaiseAlone("a cross-core flag"); }
  void SyncAll(Core& core, SyncGroup) override {
    if (core.block_num > 1) RaiseAlone("SYNCALL");
  }
  void Yield(Core&, const char*) override { std::this_thread::yield(); }
  void Poll(Core&) override {}
  GlobalMemory FindGlobalMemory(const char* op, const void* address) override {
    static const Launch kLaunch = {};
    return runtime::FindGlobalMemory(kLaunch, op, address);
  }
  std::byte* VectorBuffer(Core& core, uint32_t) override {
    return core.scratchpad[static_cast<int>(Space::kUb)];
  }
  std::byte* CubeBuffer(Core& core) override {
    return core.scratchpad[static_cast<int>(Space::kL1)];
  }
  uint32_t CoreId(Core& core) override { return core.block_idx; }

 private:
  static void RaiseAlone(const char* what) {
    RaiseFault(what, "a kernel that was launched", "one that host code calls");
  }
};

Core& CoreOfThread() {
  static HostScheduler scheduler;
  thread_local const std::unique_ptr<CoreSlot> slot = [] {
    const Environment& environment = GetEnvironment();
    const Arch* arch = host_arch.load(std::memory_order_relaxed);
    if (arch == nullptr) arch = environment.arch;
    auto made = std::make_unique<CoreSlot>(CoreType::kVector, *arch, true);
    made->core.scheduler = &scheduler;
    made->core.kernel = "host code";
    made->core.block_num = 1;
    made->core.check_limits = environment.check_limits;
    return made;
  }();
  return slot->core;
}

}  // namespace
}  // namespace runtime

Core& CoreOfHostCode(const char* op) {
  if (!runtime::host_cores_enabled.load(std::memory_order_relaxed)) {
    RaiseFault(op, "a call from a kernel that was launched", "a call from host code");
  }
  current_core = &runtime::CoreOfThread();
  return *current_core;
}

void EnableHostCores() { runtime::host_cores_enabled.store(true, std::memory_order_relaxed); }

Core& HostCore() { return runtime::CoreOfThread(); }

void SetHostArch(const Arch& arch) {
  runtime::host_arch.store(&arch, std::memory_order_relaxed);
  runtime::CoreOfThread().arch = &arch;
}

void EndHostKernel() {
  runtime::ClearState(runtime::CoreOfThread());  // tiles keep their storage: host code goes on
}

}  // namespace npu
