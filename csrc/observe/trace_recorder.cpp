// SPDX-License-Identifier: Apache-2.0
#include "observe/trace_recorder.hpp"

#include <atomic>
#include <mutex>

#include "observe/launch_trace.hpp"
#include "observe/trace_records.hpp"

namespace npu {
namespace {

std::atomic<InstructionObserver*> active_recorder{nullptr};

/// The launch that this thread runs, and the start that it belongs to.
struct LaunchOfThisThread {
  LaunchTrace* trace;
  uint64_t start;
};
__attribute__((tls_model("initial-exec"))) __thread LaunchOfThisThread launch_of_thread;

/// Calls function(trace, records) with the lock held, if what this thread runs is recorded.
template <class Function>
void WithLaunch(const Function& function) {
  const LaunchOfThisThread launch = launch_of_thread;
  if (launch.trace == nullptr) return;
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (records.start == launch.start) function(*launch.trace, records);
}

}  // namespace

void TraceRecorder::Start(const Request& request) {
  static auto* const recorder = new TraceRecorder;  // a launch in progress may hold it after Stop
  {
    TraceRecords& records = TraceRecords::Get();
    const std::lock_guard<std::mutex> lock(records.mutex);
    records.Clear();
    records.request = request;
    records.is_on = true;
  }
  active_recorder.store(recorder, std::memory_order_release);
}

void TraceRecorder::Stop() {
  active_recorder.store(nullptr, std::memory_order_release);
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  records.is_on = false;
  ++records.start;  // launches in progress are recorded no further
}

void TraceRecorder::Forget() {
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  records.Clear();
}

InstructionObserver* TraceRecorder::Active() {
  return active_recorder.load(std::memory_order_acquire);
}

TraceRecorder::Summary TraceRecorder::Count() {
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return {records.steps.size(), records.tiles.size(), records.is_whole};
}

const TraceRecorder::Step* TraceRecorder::GetStep(size_t index) {
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return index < records.steps.size() ? &records.steps[index] : nullptr;
}

const TraceRecorder::Tile* TraceRecorder::GetTile(size_t index) {
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return index < records.tiles.size() ? &records.tiles[index] : nullptr;
}

const std::byte* TraceRecorder::ValuesOf(const Operand& operand) {
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  return operand.bytes == 0 ? nullptr : records.values.data() + operand.values_at;
}

TraceRecorder::Launch::Launch(const char* kernel, FindMemory find_memory, const void* context) {
  if (Active() == nullptr) return;
  TraceRecords& records = TraceRecords::Get();
  const std::lock_guard<std::mutex> lock(records.mutex);
  if (!records.is_on || !records.Wants(kernel)) return;
  trace_ = std::make_unique<LaunchTrace>(records.launches++, find_memory, context);
  launch_of_thread = {trace_.get(), records.start};
}

TraceRecorder::Launch::~Launch() {
  if (trace_ != nullptr) launch_of_thread = {nullptr, 0};
}

void TraceRecorder::OnInstruction(const Core& core, const Instruction& instruction) {
  WithLaunch([&](LaunchTrace& trace, const TraceRecords& records) {
    if (records.is_on && records.Wants(core.block_idx)) trace.OnInstruction(core, instruction);
  });
}

void TraceRecorder::OnPlacement(const Core& core, const Placement& placement) {
  WithLaunch([&](LaunchTrace& trace, const TraceRecords& records) {
    if (records.is_on && records.Wants(core.block_idx)) trace.OnPlacement(core, placement);
  });
}

void TraceRecorder::OnKernelEnd(const Core& core) {
  WithLaunch([&](LaunchTrace& trace, const TraceRecords& records) {
    if (records.Wants(core.block_idx)) trace.OnKernelEnd(core);
  });
}

void TraceRecorder::OnBegin(const Core& core) {
  WithLaunch([&](LaunchTrace& trace, const TraceRecords& records) {
    if (records.Wants(core.block_idx)) trace.OnBegin(core);
  });
}

void TraceRecorder::OnSuspend(const Core& core) {
  WithLaunch([&](LaunchTrace& trace, const TraceRecords& records) {
    if (records.Wants(core.block_idx)) trace.OnSuspend(core);
  });
}

void TraceRecorder::OnEnd(const Core& core) {
  WithLaunch([&](LaunchTrace& trace, const TraceRecords& records) {
    if (records.Wants(core.block_idx)) trace.OnEnd(core);
  });
}

}  // namespace npu
