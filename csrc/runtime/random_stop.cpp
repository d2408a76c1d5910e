// SPDX-License-Identifier: Apache-2.0
// How a launch in random order ends before its time.
#include <exception>
#include <sstream>
#include <utility>

#include "npu/error.hpp"
#include "runtime/launch_aborted.hpp"
#include "runtime/random_executor.hpp"

namespace npu::runtime {
namespace {

void DescribeCrossCore(std::ostream& text, int id) {
  const bool is_intra = id >= kIntraBlockFlag;
  text << " for " << (is_intra ? "intra-block flag " : "cross-core flag ")
       << (is_intra ? id - kIntraBlockFlag : id);
}

void DescribeFlag(std::ostream& text, Pipe source, Pipe destination, int id) {
  if (id == kInnerFlag) {  // which its instruction sets and awaits
    text << " for " << PipeName(source) << " on behalf of " << PipeName(destination);
    return;
  }
  text << " for flag (" << PipeName(source) << ", " << PipeName(destination) << ", EVENT_ID" << id
       << ")";
}

void DescribeHold(std::ostream& text, const RandomCore& core) {
  switch (core.hold) {
    case Hold::kFlag:
      return DescribeFlag(text, core.held_for, Pipe::kS, core.held_id);
    case Hold::kCrossCore:
      return DescribeCrossCore(text, core.held_id);
    case Hold::kSyncAll:
      text << " at SYNCALL of " << GroupName(static_cast<SyncGroup>(core.held_id));
      return;
    default:
      text << " for its pipes";
  }
}

std::string CoreName(const Core& core) {
  std::string name = "block " + std::to_string(core.block_idx);
  if (core.sub_block_num == 1) return name;
  if (core.type == CoreType::kCube) return name + ", cube core";
  return name + ", vector core " + std::to_string(core.sub_block_id);
}

void DescribeQueue(std::ostream& text, const RandomCore& core, Pipe pipe) {
  const PipeEntry& next = core.queues[static_cast<int>(pipe)].front();
  text << CoreName(core.slot.core) << ", " << PipeName(pipe) << " waits";
  if (next.kind == PipeEntry::Kind::kWaitFlag) {
    DescribeFlag(text, next.other, pipe, next.id);
  } else {
    DescribeCrossCore(text, next.id);
  }
  text << " at instruction " << next.number << "; ";
}

}  // namespace

void RandomExecutor::Stop(npuError_t code, std::string message) {
  if (stopped_) return;
  stopped_ = true;
  result_ = {code, std::move(message)};
}

bool RandomExecutor::CheckStopped(RandomCore& core) {
  if (executing_ != nullptr) {
    if (std::uncaught_exceptions() != 0) return true;
    Stop(NPU_ERROR_KERNEL_FAULT,
         std::string(Where(core.slot.core).c_str()) +
             ": expected a kernel in random order to catch no fault of an instruction, got one "
             "that does");
    Pause(core);  // for good
  }
  if (!stopped_) return false;
  if (++core.slot.aborts > kMaxAborts) Abandon(core);
  if (std::uncaught_exceptions() != 0) return true;
  throw LaunchAborted{};
}

void RandomExecutor::StopDeadlocked() {
  Stop(NPU_ERROR_DEADLOCK,
       std::string(launch_.kernel->name) +
           ": expected a core that can go on, got a deadlock (every core waits): " +
           DescribeWaits());
}

std::string RandomExecutor::DescribeWaits() const {
  std::ostringstream text;
  for (const RandomCore* core : core_of_task_) {
    if (core == nullptr) continue;
    const Core& now = core->slot.core;
    if (core->hold != Hold::kEnded) {
      text << CoreName(now) << " waits";
      DescribeHold(text, *core);
      text << " at instruction " << now.instruction << "; ";
    }
    for (int pipe = 0; pipe < kPipes; ++pipe) {
      if (!core->queues[pipe].empty()) DescribeQueue(text, *core, static_cast<Pipe>(pipe));
    }
    if (static_cast<size_t>(text.tellp()) > kLongMessage) break;
  }
  std::string waits = text.str();
  waits.resize(waits.size() - 2);  // the last "; "
  return waits;
}

void RandomExecutor::CheckSpin(RandomCore& core) {
  for (const Choice& choice : choices_) {
    if (choice.pipe != RandomCore::kDispatch || choice.core->hold != Hold::kPoll) return;
  }
  const SpinWatch::Verdict verdict = spin_.Look(progress_);
  if (verdict.end.empty()) return;
  Stop(NPU_ERROR_DEADLOCK,
       std::string(Where(core.slot.core).c_str()) + ": " + core.slot.polls + ": " + verdict.end);
}

void RandomExecutor::Abandon(RandomCore& core) {
  core.is_abandoned = true;
  PauseFor(core, Hold::kEnded);
  std::abort();  // nobody resumes an abandoned fiber
}

void RandomExecutor::AbandonTerminated() {
  RandomCore& core = Of(*current_core);
  Stop(NPU_ERROR_KERNEL_FAULT, std::string(Where(core.slot.core).c_str()) + ": " +
                                   DescribeException("a noexcept function"));
  DropExceptions();
  if (executing_ != nullptr) Pause(core);  // for good
  Abandon(core);
}

bool RandomExecutor::TakeSignal(const SignalFault& fault, char** stack) noexcept {
  if (running_ == &main_) return false;
  if (signal_fault_.number != 0) return false;  // the handling itself has met another one
  signal_fault_ = fault;
  *stack = running_->stack_end();
  return true;
}

// The frames of the kernel are gone: this runs where they were.
void RandomExecutor::OnSignalFault() {
  RandomCore& core = Of(*current_core);
  Stop(NPU_ERROR_KERNEL_FAULT, std::string(Where(core.slot.core).c_str()) + ": " +
                                   DescribeSignal(signal_fault_, *running_));
  signal_fault_.number = 0;
  if (executing_ != nullptr) Pause(core);  // for good
  Abandon(core);
}

}  // namespace npu::runtime
