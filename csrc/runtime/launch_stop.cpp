// SPDX-License-Identifier: Apache-2.0
// How a launch ends before its time: faults, deadlocks, spins.
#include <cxxabi.h>
#include <signal.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "npu/error.hpp"
#include "runtime/call_stack.hpp"
#include "runtime/device.hpp"
#include "runtime/environment.hpp"
#include "runtime/launch_aborted.hpp"
#include "runtime/launch_scheduler.hpp"
#include "runtime/peers.hpp"
#include "runtime/sanitizers.hpp"
#include "runtime/source_lines.hpp"

namespace npu::runtime {
namespace {

constexpr uint32_t kMaxAborts = 1000;  // a kernel that swallows so many is left where it stands
constexpr size_t kDescribedCores = 4;  // cores that a report names
constexpr uint64_t kPollsPerOsYield = 64;
constexpr uint64_t kPollsBeforeSleep = 16 * kPollsPerOsYield;
constexpr std::chrono::microseconds kPeerPeriod{50};
constexpr size_t kLongMessage = 600;

std::terminate_handler outer_terminate_handler = nullptr;

/// ", at add.cpp:12": the line of the kernel that made these calls.
std::string AtLineOf(const std::vector<const void*>& calls) {
  // Programs of a sanitizer have 100 MB, whose line tables take a second to read.
  const std::string line = NPU_ASAN || NPU_TSAN ? "" : FirstOwnLine(calls);
  return line.empty() ? "" : ", at " + line;
}

const char* GroupName(SyncGroup group) {
  constexpr const char* kNames[] = {"the vector cores", "the cube cores", "all cores"};
  return kNames[static_cast<int>(group)];
}

}  // namespace

bool LaunchScheduler::InGroup(CoreType type, SyncGroup group) const {
  if (group == SyncGroup::kAllCores) return true;
  return (group == SyncGroup::kVectorCores) == (type == CoreType::kVector);
}

uint32_t LaunchScheduler::Ended(CoreType type) const {
  const uint32_t live = live_[static_cast<int>(type)];
  if (!shape_.is_mix()) return shape_.Count(type) == 0 ? 0 : next_task_ - live;
  const uint32_t cubes = NextBlock() + (next_index_ != 0 ? 1 : 0);
  return (type == CoreType::kCube ? cubes : next_task_ - cubes) - live;
}

uint32_t LaunchScheduler::GroupSize(SyncGroup group) const {
  if (group == SyncGroup::kAllCores) return shape_.tasks();
  return shape_.Count(group == SyncGroup::kVectorCores ? CoreType::kVector : CoreType::kCube);
}

void LaunchScheduler::CheckGroup(Core& core, SyncGroup group) const {
  const auto index = static_cast<unsigned>(group);
  if (index >= kSyncGroups) RaiseFault("SYNCALL", "a group from 0 to 2", std::to_string(index));
  const std::string name = GroupName(group);
  if (group == SyncGroup::kAllCores && !shape_.is_mix()) {
    RaiseFault("SYNCALL of " + name, "a kernel with cube and vector cores",
               shape_.has_cube ? "one without vector cores" : "one without cube cores");
  }
  if (!InGroup(core.type, group)) {
    RaiseFault("SYNCALL of " + name, "a core of that kind",
               core.type == CoreType::kCube ? "a cube core" : "a vector core");
  }
  for (const CoreType type : {CoreType::kVector, CoreType::kCube}) {
    const uint32_t limit = core_limit_[static_cast<int>(type)];
    if (!InGroup(type, group) || shape_.Count(type) <= limit) continue;
    RaiseFault("SYNCALL",
               "at most " + std::to_string(limit) +
                   (type == CoreType::kCube ? " cube cores" : " vector cores") + " (as many as " +
                   arch_->soc + " has)",
               std::to_string(shape_.Count(type)));
  }
  const uint32_t ended = (InGroup(CoreType::kVector, group) ? Ended(CoreType::kVector) : 0) +
                         (InGroup(CoreType::kCube, group) ? Ended(CoreType::kCube) : 0);
  if (ended != 0) {
    RaiseFault("SYNCALL of " + name, "all " + std::to_string(GroupSize(group)) + " cores to arrive",
               std::to_string(ended) + " that have ended");
  }
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
  using Clock = std::chrono::steady_clock;
  const auto now = Clock::now();
  const uint64_t progress = progress_ + next_task_;
  if (progress != seen_progress_) {
    seen_progress_ = progress;
    progress_time_ = now;
    fruitless_polls_ = 0;
    peer_is_lost_ = false;
    return;
  }
  const bool has_peers = Peers::Get().Any();
  const int timeout =
      has_peers ? GetEnvironment().peer_timeout_ms : GetEnvironment().spin_timeout_ms;
  if (now - progress_time_ < std::chrono::milliseconds(timeout)) {
    // What is polled may be in the hands of another thread, or of work that nobody runs yet.
    if (++fruitless_polls_ % kPollsPerOsYield != 0) return;
    std::this_thread::yield();
    for (int device = 0; device < GetEnvironment().device_count; ++device) {
      for (npuStream_t stream : Registry::Get().BusyStreams(device)) stream->HandOver();
    }
    if (has_peers) AwaitPeers(slot);
    return;
  }
  std::string message =
      std::string(Where(slot.core).c_str()) + ": " + slot.polls +
      ": expected the memory that it polls to change, got no progress of any core in " +
      std::to_string(timeout) + " ms";
  for (const CoreSlot* other = polling_.front(); other != nullptr; other = other->next) {
    message +=
        "; " + std::string(Where(other->core).c_str()) + " polls, too (" + other->polls + ")";
    if (message.size() > kLongMessage) break;
  }
  if (!blocked_.empty()) message += "; " + DescribeWaits();
  Stop(NPU_ERROR_DEADLOCK, std::move(message));
  CheckStopped(slot);
}

// Another process may need this processor to do what is polled for.
void LaunchScheduler::AwaitPeers(CoreSlot& slot) {
  if (fruitless_polls_ < kPollsBeforeSleep) return;
  std::this_thread::sleep_for(kPeerPeriod);
  std::string lost = Peers::Get().Lost();
  // What a process wrote before it ended is there to be seen: the core looks once more.
  if (!std::exchange(peer_is_lost_, !lost.empty()) || lost.empty()) return;
  Stop(NPU_ERROR_DEADLOCK,
       std::string(Where(slot.core).c_str()) + ": " + slot.polls + ": " + std::move(lost));
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
         << " of " << GroupSize(group) << " arrived)";
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

// An exception that meets a noexcept function of a kernel, a destructor for instance, would end the
// process. The core ends instead; what lies on its stack is not destroyed.
void LaunchScheduler::AbandonTerminated() {
  CoreSlot& slot = SlotOf(*current_core);
  StopTerminated(slot);
  while (std::current_exception() != nullptr)
    abi::__cxa_end_catch();  // no handler is left to do it
  Abandon(slot);
}

void LaunchScheduler::StopTerminated(const CoreSlot& slot) {
  std::string got = "std::terminate";
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& error) {
      got = error.what();
    } catch (...) {
      got = "one of unknown type";
    }
  }
  Stop(NPU_ERROR_KERNEL_FAULT, std::string(Where(slot.core).c_str()) +
                                   ": expected no exception out of a noexcept function, got " +
                                   got);
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
  // A return address stands behind its call.
  const auto* behind = reinterpret_cast<const void*>(signal_fault_.instruction + 1);
  Stop(NPU_ERROR_KERNEL_FAULT,
       std::string(Where(slot.core).c_str()) + ": " + DescribeSignal() + AtLineOf({behind}));
  signal_fault_.number = 0;
  Abandon(slot);
}

void LaunchScheduler::OnFault(Core& core) {
  fault_core_ = &core;
  fault_calls_ = CallsOfThisThread();
}

std::string LaunchScheduler::DescribePlace(const Core& core) const {
  return fault_core_ != &core || stopped_ ? "" : AtLineOf(fault_calls_);
}

std::string LaunchScheduler::DescribeSignal() const {
  if (signal_fault_.number == SIGFPE) {
    return "integer division: expected a divisor other than 0 and a quotient that its type holds, "
           "got SIGFPE";
  }
  if (running_->IsGuarded(signal_fault_.address)) {
    return "expected a kernel that needs at most the " +
           std::to_string(running_->stack_bytes() / kKiB) +
           " KiB of a core's stack, got one that "
           "needs more";
  }
  std::ostringstream text;
  text << "memory access outside of instructions: expected an address of the process, got ";
  if (signal_fault_.address == 0 && signal_fault_.code != SI_KERNEL) {
    text << "a null pointer";
  } else if (signal_fault_.code == SI_KERNEL) {
    text << "one that none can have";
  } else {
    text << "0x" << std::hex << signal_fault_.address;
  }
  text << (signal_fault_.number == SIGBUS ? " (SIGBUS)" : " (SIGSEGV)");
  return text.str();
}

void LaunchScheduler::OnTerminate() {
  if (current_core != nullptr && dynamic_cast<LaunchScheduler*>(current_core->scheduler)) {
    static_cast<LaunchScheduler*>(current_core->scheduler)->AbandonTerminated();
  }
  if (outer_terminate_handler != nullptr) outer_terminate_handler();
  std::abort();
}

void LaunchScheduler::InstallTerminateHandler() {
  static std::once_flag once;
  std::call_once(
      once, [] { outer_terminate_handler = std::set_terminate(&LaunchScheduler::OnTerminate); });
}

}  // namespace npu::runtime
