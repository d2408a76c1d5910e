// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_checker.hpp"

#include <atomic>

#include "observe/hazard_findings.hpp"

namespace npu {
namespace {

std::atomic<InstructionObserver*> active_checker{nullptr};
std::atomic<uint32_t> active_kinds{0};
std::atomic<uint64_t> starts{0};

/// The launch that this thread runs, and the start that it belongs to: one that has seen a stop has
/// not seen all flags, and looks no further.
struct LaunchOfThisThread {
  LaunchHazards* hazards;
  uint64_t start;
};
// Each instruction reads it: the initial-exec model spares a call.
__attribute__((tls_model("initial-exec"))) __thread LaunchOfThisThread launch_of_thread;

LaunchHazards* LaunchOfThread() {
  const LaunchOfThisThread launch = launch_of_thread;
  return launch.start == starts.load(std::memory_order_relaxed) ? launch.hazards : nullptr;
}

}  // namespace

void HazardChecker::Start(uint32_t kinds) {
  static auto* const checker = new HazardChecker;  // a launch in progress may hold it after Stop
  active_checker.store(nullptr, std::memory_order_release);
  starts.fetch_add(1, std::memory_order_release);
  HazardFindings::Clear();
  active_kinds.store(kinds, std::memory_order_relaxed);
  active_checker.store(checker, std::memory_order_release);
}

void HazardChecker::Stop() {
  active_checker.store(nullptr, std::memory_order_release);
  starts.fetch_add(1, std::memory_order_release);
}

InstructionObserver* HazardChecker::Active() {
  return active_checker.load(std::memory_order_acquire);
}

HazardChecker::Launch::Launch(const HazardLaunchFacts& facts) {
  launch_of_thread.start = starts.load(std::memory_order_acquire);
  if (Active() == nullptr) return;
  hazards_ = std::make_unique<LaunchHazards>(active_kinds.load(std::memory_order_relaxed), facts);
  launch_of_thread.hazards = hazards_.get();
}

void HazardChecker::Launch::End() {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnLaunchEnd();
}

HazardChecker::Launch::~Launch() { launch_of_thread.hazards = nullptr; }

void HazardChecker::OnInstruction(const Core& core, const Instruction& instruction) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnInstruction(core, instruction);
}

void HazardChecker::OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                              const void* call_site) {
  LaunchHazards* launch = LaunchOfThread();
  if (launch != nullptr) launch->OnSetFlag(core, source, destination, id, call_site);
}

void HazardChecker::OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id,
                               const void*) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnWaitFlag(core, source, destination, id);
}

void HazardChecker::OnBarrier(const Core& core, Pipe pipe, const void*) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnBarrier(core, pipe);
}

void HazardChecker::OnInnerFlag(const Core& core, Pipe from, Pipe to) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnInnerFlag(core, from, to);
}

void HazardChecker::OnKernelEnd(const Core& core) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnKernelEnd(core);
}

void HazardChecker::OnPlacement(const Core& core, const Placement& placement) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnPlacement(core, placement);
}

void HazardChecker::OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                                       const void* call_site) {
  LaunchHazards* launch = LaunchOfThread();
  if (launch != nullptr) launch->OnSetCrossCoreFlag(core, pipe, scope, id, call_site);
}

void HazardChecker::OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id, const void*) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnWaitCrossCoreFlag(core, pipe, id);
}

void HazardChecker::OnArrive(const Core& core, const SyncPoint& point, const void*) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnArrive(core, point);
}

void HazardChecker::OnLeave(const Core& core, const SyncPoint& point, const void*) {
  if (LaunchHazards* launch = LaunchOfThread()) launch->OnLeave(core, point);
}

}  // namespace npu
