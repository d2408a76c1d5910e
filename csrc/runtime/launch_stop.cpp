// SPDX-License-Identifier: Apache-2.0
// How a launch ends before its time: faults, deadlocks, spins.
#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include "npu/error.hpp"
#include "runtime/launch_aborted.hpp"
#include "runtime/launch_scheduler.hpp"

namespace npu::runtime {
namespace {

constexpr size_t kDescribedCores = 4;  // cores that a report names

}  // namespace

uint32_t LaunchScheduler::Ended(CoreType type) const {
  const uint32_t live = live_[static_cast<int>(type)];
  if (!shape_.is_mix()) return shape_.Count(type) == 0 ? 0 : next_task_ - live;
  const uint32_t cubes = NextBlock() + (next_index_ != 0 ? 1 : 0);
  return (type == CoreType::kCube ? cubes : next_task_ - cubes) - live;
}

void LaunchScheduler::Stop(npuError_t code, std::string message) {
  if (stopped_) return;
  stopped_ = true;
  result_ = {code, std::move(message)};
  while (!polling_.empty()) ready_.Push(polling_.Pop());
  for (CoreSlot* slot : blocked_) ready_.Push(slot);
  blocked_.clear();
  woken_.clear();
}

bool LaunchScheduler::CheckStopped(CoreSlot& slot) {
  if (!stopped_) [[likely]]
    return false;
  if (++slot.aborts > kMaxAborts) Abandon(slot);
  if (std::uncaught_exceptions() != 0) return true;
  throw LaunchAborted{};
}

void LaunchScheduler::CheckSpin(CoreSlot& slot) {
  const SpinWatch::Verdict verdict = spin_.Look(progress_ + next_task_);
  if (verdict.end.empty()) return;
  std::string message =
      std::string(Where(slot.core).c_str()) + ": " + slot.polls + ": " + verdict.end;
  const CoreSlot* other = verdict.is_peer_lost ? nullptr : polling_.front();
  for (; other != nullptr && message.size() <= kLongMessage; other = other->next) {
    message +=
        "; " + std::string(Where(other->core).c_str()) + " polls, too (" + other->polls + ")";
  }
  if (!verdict.is_peer_lost && !blocked_.empty()) message += "; " + DescribeWaits();
  Stop(NPU_ERROR_DEADLOCK, std::move(message));
  CheckStopped(slot);
}

void LaunchScheduler::StopDeadlocked(const std::string& reason) {
  Stop(NPU_ERROR_DEADLOCK, std::string(launch_->kernel->name) +
                               ": expected a core that can go on, got a deadlock (" + reason +
                               "): " + DescribeWaits());
}

std::string LaunchScheduler::DescribeWaits() const {
  std::vector<CoreSlot*> cores = blocked_;
  std::sort(cores.begin(), cores.end(),
            [](const CoreSlot* a, const CoreSlot* b) { return a->task < b->task; });
  std::string text;
  for (size_t i = 0; i < cores.size() && i < kDescribedCores; ++i) {
    text += (i == 0 ? "" : "; ") + Describe(*cores[i]);
  }
  if (cores.size() > kDescribedCores) {
    text += "; and " + std::to_string(cores.size() - kDescribedCores) + " more";
  }
  if (next_task_ < tasks_) {
    text += "; block " + std::to_string(NextBlock()) + " waits for a free core";
  }
  return text;
}

std::string LaunchScheduler::Describe(const CoreSlot& slot) const {
  std::ostringstream text;
  text << "block " << slot.core.block_idx;
  if (slot.core.sub_block_num > 1) {
    if (slot.core.type == CoreType::kCube) {
      text << ", cube core";
    } else {
      text << ", vector core " << slot.core.sub_block_id;
    }
  }
  text << " waits ";
  if (slot.wait == Wait::kSyncAll) {
    const auto group = static_cast<SyncGroup>(slot.wait_id);
    text << "at SYNCALL of " << GroupName(group) << " (" << barriers_[slot.wait_id].arrived
         << " of " << shape_.GroupSize(group) << " arrived)";
  } else {
    const bool intra = slot.wait_id >= kIntraBlockFlag;
    text << "for " << (intra ? "intra-block flag " : "cross-core flag ")
         << (intra ? slot.wait_id - kIntraBlockFlag : slot.wait_id)
         << flags_.DescribeMissing(slot.task, slot.wait_id);
  }
  text << " at instruction " << slot.core.instruction;
  return text.str();
}

void LaunchScheduler::StopIfAwaited(const Core& core) {
  for (int group = 0; group < kSyncGroups; ++group) {
    if (barriers_[group].arrived == 0 || !InGroup(core.type, static_cast<SyncGroup>(group)))
      continue;
    StopDeadlocked("block " + std::to_string(core.block_idx) + " has ended without SYNCALL");
    return;
  }
}

void LaunchScheduler::Abandon(CoreSlot& slot) {
  abandoned_fibers_.push_back(running_);
  EndTask(slot);
  GiveSlot(slot);
  Fiber* next = Next();
  SwitchTo(next != nullptr ? *next : main_);
  std::abort();  // nobody resumes an abandoned fiber
}

void LaunchScheduler::AbandonTerminated() {
  CoreSlot& slot = SlotOf(*current_core);
  Stop(NPU_ERROR_KERNEL_FAULT,
       std::string(Where(slot.core).c_str()) + ": " + DescribeException("a noexcept function"));
  DropExceptions();
  Abandon(slot);
}

bool LaunchScheduler::TakeSignal(const SignalFault& fault, char** stack) noexcept {
  if (running_ == nullptr || running_ == &main_ || *current_core_ == nullptr) return false;
  if (signal_fault_.number != 0) return false;  // the handling itself has met another one
  signal_fault_ = fault;
  *stack = running_->stack_end();
  return true;
}

// The core ends, as after std::terminate. Its frames are gone: this runs where they were.
void LaunchScheduler::OnSignalFault() {
  CoreSlot& slot = SlotOf(**current_core_);
  Stop(NPU_ERROR_KERNEL_FAULT,
       std::string(Where(slot.core).c_str()) + ": " + DescribeSignal(signal_fault_, *running_));
  signal_fault_.number = 0;
  Abandon(slot);
}

}  // namespace npu::runtime
