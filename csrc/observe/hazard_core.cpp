// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_core.hpp"

namespace npu {

void HazardCore::Begin(HazardTask number, const Core& core) {
  task = number;
  type = core.type;
  block = core.block_idx;
  sub_block = core.sub_block_id;
  is_a3 = core.arch->generation == Generation::kA3;
  for (int space = 0; space < kOnChipSpaces; ++space) {
    const auto begin = reinterpret_cast<uint64_t>(core.scratchpad[space]);
    spaces[space] = {begin, begin == 0 ? 0 : begin + core.arch->capacity[space]};
  }
  for (HazardClock& clock : pipes) clock = HazardClock();
  for (int pipe = 0; pipe < kPipes; ++pipe) pipes[pipe].own[pipe] = 1;
  dispatch = HazardClock();
  dispatches = 1;
  for (uint32_t& count : seen) count = dispatches;
  barrier_of_vector = 0;
  for (auto& flag : flags) flag.clear();
  extents.Clear();
  for (uint32_t& count : arrivals) count = 0;
  soft_arrivals.clear();
  polled = {};
}

HazardClock HazardCore::MeetAll() {
  HazardClock all = dispatch;
  for (const HazardClock& clock : pipes) all.Join(clock);
  barrier_of_vector = all.own[static_cast<int>(Pipe::kV)];
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    pipes[pipe] = all;
    ++pipes[pipe].own[pipe];
  }
  dispatch = all;
  ++dispatches;
  for (uint32_t& count : seen) count = dispatches;
  return all;
}

void HazardCore::Await(Pipe pipe, const HazardClock& clock) {
  HazardClock& mine = ClockOf(pipe);
  mine.Join(clock);
  const Epoch of_vector = clock.own[static_cast<int>(Pipe::kV)];
  if (pipe == Pipe::kS) {
    dispatch.Join(clock);
    ++dispatches;
  } else if (pipe != Pipe::kV) {
    return;
  }
  barrier_of_vector = std::max(barrier_of_vector, of_vector);
}

void HazardCore::Learn(Pipe pipe, const KnownCores& cores) {
  HazardClock told;
  told.Learn(task, cores);
  Await(pipe, told);
}

HazardClock HazardCore::Release(Pipe pipe) {
  if (pipe == Pipe::kAll) {
    HazardClock all = dispatch;
    for (int each = 0; each < kPipes; ++each) {
      all.Join(pipes[each]);
      ++pipes[each].own[each];
    }
    return all;
  }
  HazardClock& mine = ClockOf(pipe);
  HazardClock done = mine;
  ++mine.own[static_cast<int>(pipe)];
  return done;
}

}  // namespace npu
