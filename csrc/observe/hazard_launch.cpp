// SPDX-License-Identifier: Apache-2.0
// Cores, flags, barriers and meetings of a launch.
#include "observe/hazard_launch.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace npu {
namespace {

/// What meets at point: the cores of a group, or those that count on one counter.
const void* KeyOf(const SyncPoint& point) {
  static const char kGroups[3] = {};
  return point.counter != nullptr ? point.counter : &kGroups[static_cast<int>(point.group)];
}

uint32_t& ArrivalsOf(HazardCore& core, const SyncPoint& point) {
  return point.counter != nullptr ? core.soft_arrivals[point.counter]
                                  : core.arrivals[static_cast<int>(point.group)];
}

/// The pipe that a wait holds; where it is all of them, the scalar unit waits.
Pipe HeldBy(const HazardCore& core, Pipe pipe) {
  return core.is_a3 || pipe == Pipe::kAll ? Pipe::kS : pipe;
}

}  // namespace

HazardCore& LaunchHazards::FindCore(const Core& core) {
  if (cores_per_block_ == 0) {
    cores_per_block_ = core.sub_block_num > 1 ? 3 : 1;
    is_cube_launch_ = core.type == CoreType::kCube;
    tasks_.resize(size_t{core.block_num} * cores_per_block_);
  }
  const HazardTask task = cores_per_block_ == 1 ? core.block_idx
                          : core.type == CoreType::kCube
                              ? 3 * core.block_idx
                              : 3 * core.block_idx + 1 + core.sub_block_id;
  if (tasks_[task].core == nullptr) BeginCore(task, core);
  last_ = tasks_[task].core.get();
  if (last_->polled.end != 0) [[unlikely]] {
    const TileExtent polled = std::exchange(last_->polled, {});
    last_->Learn(Pipe::kS, cross_core_.Signals(polled.begin, polled.end));
  }
  return *last_;
}

void LaunchHazards::BeginCore(HazardTask task, const Core& core) {
  if (idle_.empty()) idle_.push_back(std::make_unique<HazardCore>());
  tasks_[task].core = std::move(idle_.back());
  idle_.pop_back();
  HazardCore& begun = *tasks_[task].core;
  begun.Begin(task, core);
  running_.push_back(&begun);
}

void LaunchHazards::OnSetFlag(const Core& core, Pipe source, Pipe destination, int id,
                              const void* call_site) {
  HazardCore& here = CoreOf(core);
  std::vector<PendingFlag>& pending = here.Flag(source, destination, id);
  if (!pending.empty() && Wants(kHazardFlag)) {
    ReportFlag(HazardKind::kFlagSetAgain, here, source, destination, id, pending.back().call_site,
               call_site);
  }
  pending.push_back({here.Release(source), call_site});
}

void LaunchHazards::OnWaitFlag(const Core& core, Pipe source, Pipe destination, int id) {
  HazardCore& here = CoreOf(core);
  std::vector<PendingFlag>& pending = here.Flag(source, destination, id);
  if (pending.empty()) return;  // a fault, unless the check started in between
  here.Await(destination, pending.front().clock);
  if (pending.size() == 1) {
    pending.pop_back();
  } else {
    pending.erase(pending.begin());
  }
}

void LaunchHazards::OnBarrier(const Core& core, Pipe pipe) {
  HazardCore& here = CoreOf(core);
  if (pipe == Pipe::kAll) {
    here.MeetAll();
  } else if (pipe == Pipe::kV) {
    here.barrier_of_vector = here.Release(pipe).own[static_cast<int>(pipe)];
  }
}

void LaunchHazards::OnInnerFlag(const Core& core, Pipe from, Pipe to) {
  HazardCore& here = CoreOf(core);
  here.Await(to, here.Release(from));
}

void LaunchHazards::OnKernelEnd(const Core& core) {
  JudgeRepetitions();
  HazardCore& here = CoreOf(core);
  for (int flag = 0; flag < HazardCore::kFlags && Wants(kHazardFlag); ++flag) {
    for (const PendingFlag& pending : here.flags[flag]) {
      const int pipes = flag / kEventIds;
      ReportFlag(HazardKind::kFlagLeftSet, here, static_cast<Pipe>(pipes / kPipes),
                 static_cast<Pipe>(pipes % kPipes), flag % kEventIds, pending.call_site, nullptr);
    }
  }
  for (const SpaceBytes& space : here.spaces) {
    if (space.end != 0) chip_.Erase(space.begin, space.end);
  }
  running_.erase(std::find(running_.begin(), running_.end(), &here));
  idle_.push_back(std::move(tasks_[here.task].core));
  last_ = nullptr;
}

void LaunchHazards::OnPlacement(const Core& core, const Placement& placement) {
  if (!Wants(kHazardOverlap)) return;
  HazardCore& here = CoreOf(core);
  const uint64_t begin = here.spaces[static_cast<int>(placement.space)].begin + placement.address;
  here.extents.Set({begin, begin + placement.bytes});
}

void LaunchHazards::OnSetCrossCoreFlag(const Core& core, Pipe pipe, FlagScope scope, int id,
                                       const void* call_site) {
  HazardCore& here = CoreOf(core);
  tasks_[here.task].is_known = true;
  const HazardSide set = {NameOfSet(scope), pipe, here.type, here.block,
                          here.sub_block,   0,    0,         call_site};
  cross_core_.SetFlag(core, here.task, scope, id, set, here.Release(pipe).Export(here.task));
}

void LaunchHazards::OnWaitCrossCoreFlag(const Core& core, Pipe pipe, int id) {
  HazardCore& here = CoreOf(core);
  here.Learn(HeldBy(here, pipe), cross_core_.TakeFlag(here.task, id));
}

void LaunchHazards::OnArrive(const Core& core, const SyncPoint& point) {
  HazardCore& here = CoreOf(core);
  tasks_[here.task].is_known = true;
  const KnownCores done = here.MeetAll().Export(here.task);
  cross_core_.Arrive(KeyOf(point), ArrivalsOf(here, point), done);
}

void LaunchHazards::OnLeave(const Core& core, const SyncPoint& point) {
  HazardCore& here = CoreOf(core);
  here.Learn(Pipe::kS, cross_core_.Leave(KeyOf(point), ArrivalsOf(here, point)++));
}

void LaunchHazards::OnLaunchEnd() {
  if (!Wants(kHazardFlag)) return;
  cross_core_.ForEachSet([&](const HazardSide& set, int id) {
    Hazard hazard;
    hazard.kind = HazardKind::kFlagLeftSet;
    hazard.first = set;
    hazard.flag_id = id;
    hazard.is_between_cores = true;
    Report(hazard);
  });
}

void LaunchHazards::HandOnSignal(HazardCore& core, const Instruction& instruction) {
  const Access& access = instruction.accesses[0];
  const auto begin = reinterpret_cast<uint64_t>(access.begin);
  if (access.is_write) {
    tasks_[core.task].is_known = true;
    cross_core_.Notify(begin, core.Release(Pipe::kS).Export(core.task));
  }
  if (!access.is_write || std::strcmp(instruction.name, "atomicAdd") == 0) {
    core.polled = {begin, begin + access.rows * std::max(access.pitch_bytes, access.row_bytes)};
  }
}

}  // namespace npu
