// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_checker.hpp"

#include <atomic>

#include "observe/hazard_findings.hpp"

namespace npu {
namespace {

std::atomic<InstructionObserver*> active_checker{nullptr};
std::atomic<uint32_t> active_kinds{0};

}  // namespace

void HazardChecker::Start(uint32_t kinds) {
  static auto* const checker = new HazardChecker;  // a launch in progress may hold it after Stop
  HazardFindings::Clear();
  active_kinds.store(kinds, std::memory_order_relaxed);
  active_checker.store(checker, std::memory_order_release);
}

void HazardChecker::Stop() { active_checker.store(nullptr, std::memory_order_release); }

InstructionObserver* HazardChecker::Active() {
  return active_checker.load(std::memory_order_acquire);
}

}  // namespace npu
