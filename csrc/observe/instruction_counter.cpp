// SPDX-License-Identifier: Apache-2.0
#include "observe/instruction_counter.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace npu {
namespace {

struct Counts {
  std::mutex mutex;  // several threads run launches
  std::map<std::string, InstructionCounter::Count, std::less<>> by_name;
};

Counts& GetCounts() {
  static auto* const counts = new Counts;  // outlives static destructors
  return *counts;
}

std::atomic<InstructionObserver*> active_counter{nullptr};

}  // namespace

void InstructionCounter::Start() {
  static auto* const counter =
      new InstructionCounter;  // a launch in progress may hold it after Stop
  {
    Counts& counts = GetCounts();
    const std::lock_guard<std::mutex> lock(counts.mutex);
    counts.by_name.clear();
  }
  active_counter.store(counter, std::memory_order_release);
}

void InstructionCounter::Stop() { active_counter.store(nullptr, std::memory_order_release); }

InstructionObserver* InstructionCounter::Active() {
  return active_counter.load(std::memory_order_acquire);
}

InstructionCounter::Count InstructionCounter::Get(const char* name) {
  Counts& counts = GetCounts();
  const std::lock_guard<std::mutex> lock(counts.mutex);
  const auto found = counts.by_name.find(std::string_view(name));
  return found == counts.by_name.end() ? Count{} : found->second;
}

void InstructionCounter::Add(const char* name, uint64_t elements) {
  Counts& counts = GetCounts();
  const std::lock_guard<std::mutex> lock(counts.mutex);
  auto found = counts.by_name.find(std::string_view(name));
  if (found == counts.by_name.end()) found = counts.by_name.emplace(name, Count{}).first;
  ++found->second.executions;
  found->second.elements += elements;
}

void InstructionCounter::OnInstruction(const Core&, const Instruction& instruction) {
  Add(instruction.name, instruction.work.elements);
}

}  // namespace npu
