// SPDX-License-Identifier: Apache-2.0
#include "observe/step_recorder.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace npu {
namespace {

using Execution = std::tuple<std::string, CoreType, uint32_t>;  // kernel, core, sub block

struct Records {
  std::mutex mutex;  // several threads run launches
  std::vector<StepRecorder::Step> steps;
  std::set<Execution> ended;
  std::set<std::string> texts;  // a kernel library may be gone when somebody asks
};

Records& GetRecords() {
  static auto* const records = new Records;  // outlives static destructors
  return *records;
}

std::atomic<InstructionObserver*> active_recorder{nullptr};
std::atomic<uint32_t> recorded_block{0};

const char* KernelOf(const Core& core) { return core.kernel != nullptr ? core.kernel : "kernel"; }

const char* Keep(Records& records, const char* text) {
  return records.texts.insert(text).first->c_str();
}

void Record(const Core& core, StepRecorder::Step step) {
  if (core.block_idx != recorded_block.load(std::memory_order_relaxed)) return;
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (records.steps.size() == StepRecorder::kMostSteps) return;
  if (records.ended.count({KernelOf(core), core.type, core.sub_block_id}) != 0) return;
  step.name = Keep(records, step.name);
  step.kernel = Keep(records, KernelOf(core));
  step.core = core.type;
  step.sub_block = core.sub_block_id;
  records.steps.push_back(step);
}

StepRecorder::Step StepOf(StepRecorder::Kind kind, const char* name, Pipe pipe, Pipe destination,
                          int id, const void* call_site) {
  return {kind, name, nullptr, CoreType::kVector, 0, pipe, destination, id, call_site};
}

}  // namespace

void StepRecorder::Start(uint32_t block) {
  static auto* const recorder = new StepRecorder;  // a launch in progress may hold it after Stop
  {
    Records& records = GetRecords();
    const std::lock_guard<std::mutex> lock(records.mutex);
    records.steps.clear();
    records.ended.clear();
    records.texts.clear();
  }
  recorded_block.store(block, std::memory_order_relaxed);
  active_recorder.store(recorder, std::memory_order_release);
}

void StepRecorder::Stop() { active_recorder.store(nullptr, std::memory_order_release); }

InstructionObserver* StepRecorder::Active() {
  return active_recorder.load(std::memory_order_acquire);
}

size_t StepRecorder::Count() {
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return records.steps.size();
}

bool StepRecorder::Get(size_t index, Step* step) {
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (index >= records.steps.size()) return false;
  *step = records.steps[index];
  return true;
}

void StepRecorder::OnInstruction(const Core& core, const Instruction& instruction) {
  Record(core, StepOf(Kind::kInstruction, instruction.name, instruction.pipe, instruction.pipe, 0,
                      instruction.call_site));
}

void StepRecorder::OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                             const void* call_site) {
  Record(core, StepOf(Kind::kSetFlag, "set_flag", source, destination, id, call_site));
}

void StepRecorder::OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id,
                              const void* call_site) {
  Record(core, StepOf(Kind::kWaitFlag, "wait_flag", source, destination, id, call_site));
}

void StepRecorder::OnBarrier(const Core& core, Pipe pipe, const void* call_site) {
  Record(core, StepOf(Kind::kBarrier, "pipe_barrier", pipe, pipe, 0, call_site));
}

void StepRecorder::OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                                      const void* call_site) {
  Record(core, StepOf(Kind::kSetCrossCoreFlag, NameOfSet(scope), pipe, pipe, id, call_site));
}

void StepRecorder::OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id, const void* call_site) {
  const char* name = id < kIntraBlockFlag ? "wait_flag_dev" : "wait_intra_block";
  Record(core, StepOf(Kind::kWaitCrossCoreFlag, name, pipe, pipe, id, call_site));
}

void StepRecorder::OnArrive(const Core& core, const SyncPoint&, const void* call_site) {
  Record(core, StepOf(Kind::kMeet, "SYNCALL", Pipe::kAll, Pipe::kAll, 0, call_site));
}

void StepRecorder::OnKernelEnd(const Core& core) {
  if (core.block_idx != recorded_block.load(std::memory_order_relaxed)) return;
  Records& records = GetRecords();
  const std::lock_guard<std::mutex> lock(records.mutex);
  records.ended.emplace(KernelOf(core), core.type, core.sub_block_id);
}

}  // namespace npu
