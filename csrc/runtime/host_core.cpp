// SPDX-License-Identifier: Apache-2.0
#include "npu/host_core.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "npu/error.hpp"
#include "runtime/core_slot.hpp"
#include "runtime/environment.hpp"
#include "runtime/global_memory.hpp"
#include "runtime/peers.hpp"

namespace npu {
namespace runtime {
namespace {

std::atomic<bool> host_cores_enabled = false;
std::atomic<const Arch*> host_arch = nullptr;  // null: that of the environment
std::atomic<uint64_t> progress = 0;            // of all cores of host code

/// Times that this thread has set a cross-core flag and not waited for it: a thread that is all
/// cores of a block, one after the other, hands on what it made to itself.
uint32_t& FlagOfThread(int id) {
  thread_local uint32_t counts[kFlagIdsOfCore] = {};
  return counts[id];
}

/// Of cores that are threads: nothing is scheduled, and what needs other cores is a fault.
class HostScheduler final : public CoreScheduler {
 public:
  void SetCrossCoreFlag(Core&, Pipe, FlagScope, int id) override { ++FlagOfThread(id); }
  void WaitCrossCoreFlag(Core&, Pipe, int id) override;
  void SyncAll(Core& core, SyncGroup) override {
    if (core.block_num > 1) RaiseAlone("SYNCALL");
  }
  void Yield(Core& core, const char* where) override;
  void Poll(Core&) override { progress.fetch_add(1, std::memory_order_relaxed); }
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

using Clock = std::chrono::steady_clock;

/// The wait that this thread is in, one instruction long: host code itself ends loops of more.
struct HostWait {
  uint64_t instruction = 0;  // none: a wait is at least the first
  uint64_t seen_progress = 0;
  Clock::time_point since;
};
thread_local HostWait host_wait;

void HostScheduler::Yield(Core& core, const char* where) {
  HostWait& wait = host_wait;
  if (wait.instruction != core.instruction) {
    progress.fetch_add(1, std::memory_order_relaxed);
    wait.instruction = core.instruction;
    wait.seen_progress = 0;
  }
  const uint64_t now_seen = progress.load(std::memory_order_relaxed);
  const Clock::time_point now = Clock::now();
  if (wait.seen_progress != now_seen) {
    wait.seen_progress = now_seen;
    wait.since = now;
  }
  const Environment& environment = GetEnvironment();
  const int timeout =
      Peers::Get().Any() ? environment.peer_timeout_ms : environment.spin_timeout_ms;
  if (now - wait.since < std::chrono::milliseconds(timeout)) return std::this_thread::yield();
  wait = {};
  RaiseFault(where, "the memory that it polls to change",
             "no progress of any core of host code in " + TextOf(timeout) + " ms");
}

void HostScheduler::WaitCrossCoreFlag(Core&, Pipe, int id) {
  uint32_t& count = FlagOfThread(id);
  if (count == 0) {
    RaiseFault("a cross-core flag",
               "flag " + TextOf(id) + " set before by this thread of host code", "none");
  }
  --count;
}

/// What threads of host code share. Lives on after the last of them.
struct SharedMemory {
  struct alignas(64) Line {
    std::byte bytes[64] = {};
  };
  std::mutex mutex;
  std::map<uint64_t, std::vector<Line>> by_key;

  static SharedMemory& Get() {
    static auto* const shared = new SharedMemory;
    return *shared;
  }
  void Clear() {
    const std::scoped_lock lock(mutex);
    for (auto& [key, lines] : by_key) std::fill(lines.begin(), lines.end(), Line{});
  }
};

Core& CoreOfThread() {
  static HostScheduler scheduler;
  thread_local const std::unique_ptr<CoreSlot> slot = [] {
    const Environment& environment = GetEnvironment();
    if (!environment.error.empty()) throw Fault(environment.error.c_str());
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

void* SharedByHostCode(uint64_t key, size_t bytes) {
  runtime::SharedMemory& shared = runtime::SharedMemory::Get();
  const std::scoped_lock lock(shared.mutex);
  std::vector<runtime::SharedMemory::Line>& lines = shared.by_key[key];
  if (lines.empty()) lines.resize(bytes / sizeof(runtime::SharedMemory::Line) + 1);
  return lines.data();
}

void EndHostKernel() {
  if (!runtime::GetEnvironment().error.empty()) return;  // none has begun
  runtime::host_wait = {};
  for (int id = 0; id < kFlagIdsOfCore; ++id) runtime::FlagOfThread(id) = 0;
  runtime::SharedMemory::Get().Clear();
  runtime::ClearState(runtime::CoreOfThread());  // tiles keep their storage: host code goes on
}

}  // namespace npu
