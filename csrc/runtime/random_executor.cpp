// SPDX-License-Identifier: Apache-2.0
// The order: which block starts, which core goes on in its text, which pipe executes.
#include "runtime/random_executor.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "npu/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/global_memory.hpp"
#include "runtime/interrupt.hpp"

namespace npu::runtime {
namespace {

constexpr uint32_t kBlocksAtATime = 4;   // more only where these wait for others
constexpr size_t kLongQueues = 64;       // instructions; the text goes on only if nothing else can
constexpr uint64_t kReweighPeriod = 32;  // steps, on average
constexpr uint64_t kStepsPerLook = 64;   // for interrupts

/// Sees what no one looks at, so that instructions ask the scheduler.
class Nobody final : public InstructionObserver {
  void OnInstruction(const Core&, const Instruction&) override {}
};

InstructionObserver& NobodyLooks() {
  static auto* const nobody = new Nobody;  // outlives static destructors
  return *nobody;
}

uint64_t SeedOf(const Launch& launch, uint64_t seed) {
  for (const char* letter = launch.kernel->name; *letter != '\0'; ++letter) {
    seed = RandomNumbers(seed ^ static_cast<unsigned char>(*letter)).Next();
  }
  return seed;
}

}  // namespace

RandomExecutor::RandomExecutor(const Launch& launch, uint64_t seed, InstructionObserver* observer)
    : launch_(launch),
      shape_{launch.block_dim, launch.kernel->cube != nullptr, launch.kernel->vector != nullptr},
      observer_(observer != nullptr ? observer : &NobodyLooks()),
      blocks_(launch.block_dim),
      core_of_task_(shape_.tasks()),
      random_(SeedOf(launch, seed)) {
  InstallTerminateHandler();
  std::iota(blocks_.begin(), blocks_.end(), 0u);
  flags_.Reset(shape_);
  spin_.Reset();
}

RandomExecutor::~RandomExecutor() = default;

Status RandomExecutor::Run() {
  const TaskScope in_task;
  Core* const host_core = std::exchange(current_core, nullptr);  // or none
  try {
    while (!cores_.empty() || (!stopped_ && next_block_ != blocks_.size())) Step();
  } catch (const std::bad_alloc&) {
    Stop(NPU_ERROR_OUT_OF_MEMORY, std::string(launch_.kernel->name) +
                                      ": expected memory of the host for a core in random order, "
                                      "got none");
    while (!cores_.empty()) Step();
  }
  current_core = host_core;
  return std::exchange(result_, {});
}

bool RandomExecutor::CanStart() const {
  if (stopped_ || next_block_ == blocks_.size()) return false;
  const Arch& chip = *GetEnvironment().arch;
  const auto fits = [&](CoreType type, uint32_t more) {
    return live_[static_cast<int>(type)] + more <= CoresOf(chip, type);
  };
  return fits(CoreType::kVector, shape_.vector_cores_per_block()) &&
         fits(CoreType::kCube, shape_.has_cube ? 1 : 0);
}

void RandomExecutor::StartBlock() {
  std::swap(blocks_[next_block_],
            blocks_[next_block_ + random_.Below(blocks_.size() - next_block_)]);
  const uint32_t block = blocks_[next_block_++];
  ++live_blocks_;
  for (uint32_t i = 0; i < shape_.cores_per_block(); ++i) {
    RandomCore& core = TakeCore(block * shape_.cores_per_block() + i);
    core.slot.core.block_idx = block;
    core.slot.core.sub_block_id = i > 1 ? i - 1 : 0;
  }
}

RandomCore& RandomExecutor::TakeCore(uint32_t task) {
  const CoreType type = shape_.TypeOf(task);
  const auto found = std::find_if(idle_.begin(), idle_.end(),
                                  [&](const auto& core) { return core->slot.core.type == type; });
  if (found != idle_.end()) {
    cores_.push_back(std::move(*found));
    idle_.erase(found);
  } else {
    cores_.push_back(std::make_unique<RandomCore>(*this, type, *GetEnvironment().arch, &RunFiber));
  }
  RandomCore& taken = *cores_.back();
  Core& core = taken.slot.core;
  taken.Clear();
  taken.slot.task = task;
  core.scheduler = this;
  core.observer = observer_;
  core.kernel = launch_.kernel->name;
  core.check_limits = GetEnvironment().check_limits;
  core.allow_float64 = (launch_.flags & NPU_LAUNCH_FLOAT64) != 0;
  core.block_num = shape_.blocks;
  core.sub_block_num = shape_.is_mix() ? 2 : 1;
  core_of_task_[task] = &taken;
  ++live_[static_cast<int>(type)];
  Reweigh(taken);
  return taken;
}

/// A block ends as a whole: cores reach into the memory of others of their block.
void RandomExecutor::EndFinished() {
  const auto is_finished = [](const RandomCore* core) {
    return core == nullptr || (core->hold == Hold::kEnded && core->queued == 0);
  };
  const uint32_t count = shape_.cores_per_block();
  for (size_t i = 0; i < cores_.size();) {
    const uint32_t first = cores_[i]->slot.task / count * count;
    RandomCore* const* block = &core_of_task_[first];
    if (!std::all_of(block, block + count, is_finished)) {
      ++i;
      continue;
    }
    for (uint32_t task = first; task < first + count; ++task) {
      if (core_of_task_[task] != nullptr) End(*core_of_task_[task]);
    }
    --live_blocks_;
    i = 0;
  }
}

void RandomExecutor::End(RandomCore& core) {
  CoreSlot& slot = core.slot;
  if (slot.core.unknown_transfers != 0) {
    AddUnknownTransfers(std::exchange(slot.core.unknown_transfers, 0));
  }
  const auto type = static_cast<size_t>(slot.core.type);
  core_ids_.TakeBack(slot);
  --live_[type];
  ++ended_[type];
  core_of_task_[slot.task] = nullptr;
  const auto found = std::find_if(cores_.begin(), cores_.end(),
                                  [&](const auto& owned) { return owned.get() == &core; });
  if (!core.is_abandoned) idle_.push_back(std::move(*found));
  cores_.erase(found);
}

void RandomExecutor::Reweigh(RandomCore& core) {
  // Now and then a pipe should fall far behind, or run far ahead of the others.
  constexpr uint64_t kWeights[] = {1, 8, 64};
  for (uint64_t& weight : core.weights) weight = kWeights[random_.Below(3)];
}

bool RandomExecutor::CanDispatch(const RandomCore& core, bool with_stragglers) const {
  switch (core.hold) {
    case Hold::kNothing:
      return with_stragglers || core.queued < kLongQueues;
    case Hold::kFlag:
      return core.flags[static_cast<int>(core.held_for)][RandomCore::kDispatch][core.held_id] != 0;
    case Hold::kCrossCore:
      return flags_.IsSet(core.slot.task, core.held_id);
    case Hold::kPipes:
      return core.queued == 0;
    case Hold::kSyncAll:
      return core.has_met;
    case Hold::kPoll:
      return with_stragglers;
    case Hold::kEnded:
      return false;
  }
  return false;
}

bool RandomExecutor::CanExecute(RandomCore& core, Pipe pipe) const {
  const std::deque<PipeEntry>& queue = core.QueueOf(pipe);
  if (queue.empty()) return false;
  const PipeEntry& next = queue.front();
  if (next.kind == PipeEntry::Kind::kWaitFlag) return core.FlagOf(next.other, pipe, next.id) != 0;
  if (next.kind != PipeEntry::Kind::kWaitCrossCore) return true;
  return flags_.IsSet(core.slot.task, next.id);
}

void RandomExecutor::Add(RandomCore& core, int pipe) {
  const uint64_t weight = core.weights[pipe];
  choices_.push_back({&core, pipe, weight});
  total_weight_ += weight;
}

/// What may come next. Stragglers: who polls, and texts that are far ahead of their pipes.
void RandomExecutor::Collect(bool with_stragglers) {
  choices_.clear();
  total_weight_ = 0;
  for (const auto& core : cores_) {
    if (CanDispatch(*core, with_stragglers)) Add(*core, RandomCore::kDispatch);
    for (int pipe = 0; core->queued != 0 && pipe < kPipes; ++pipe) {
      if (CanExecute(*core, static_cast<Pipe>(pipe))) Add(*core, pipe);
    }
  }
}

void RandomExecutor::Step() {
  if (++steps_ % kStepsPerLook == 0) LookAround();
  if (stopped_) {
    for (const auto& core : cores_) {
      while (core->hold != Hold::kEnded) SwitchTo(*core);
      core->queued = 0;
    }
    return EndFinished();
  }
  while (live_blocks_ < kBlocksAtATime && CanStart()) StartBlock();
  // Who polls is not asked each time: others should get on meanwhile.
  Collect(random_.Below(8) == 0);
  if (choices_.empty() && CanStart()) {
    StartBlock();
    return;
  }
  if (choices_.empty()) Collect(true);
  if (choices_.empty()) return StopDeadlocked();
  uint64_t at = random_.Below(total_weight_);
  const Choice* choice = choices_.data();
  for (; at >= choice->weight; ++choice) at -= choice->weight;
  RandomCore& core = *choice->core;
  if (random_.Below(kReweighPeriod) == 0) Reweigh(core);
  if (core.hold == Hold::kPoll && choice->pipe == RandomCore::kDispatch) {
    CheckSpin(core);
    if (stopped_) return;
  } else {
    ++progress_;
  }
  choice->pipe == RandomCore::kDispatch ? Dispatch(core)
                                        : Execute(core, static_cast<Pipe>(choice->pipe));
  if (core.hold == Hold::kEnded && core.queued == 0) EndFinished();
}

void RandomExecutor::LookAround() {
  const bool is_interrupted = InterruptPollDue() && PollInterrupt();
  if (stopped_ || cores_.empty() || (!is_interrupted && !AbortScope::Requested())) return;
  Stop(NPU_ERROR_INTERRUPTED, std::string(Where(cores_.front()->slot.core).c_str()) +
                                  ": expected the kernel to run to its end, got an interrupt");
}

}  // namespace npu::runtime
