// SPDX-License-Identifier: Apache-2.0
#include "runtime/random_core.hpp"

namespace npu::runtime {
namespace {

constexpr int kUnwritten = 0xff;  // bytes that make a NaN of every float, and -1 of integers

}  // namespace

void RandomCore::Clear() {
  for (std::deque<PipeEntry>& queue : queues) queue.clear();
  queued = 0;
  std::memset(flags, 0, sizeof(flags));
  hold = Hold::kNothing;
  has_met = false;
  offered = Pipe::kAll;
  slot.aborts = 0;
  Core& core = slot.core;
  ClearState(core);
  TakeBlocksBack(core);
  for (int space = 0; space < kOnChipSpaces; ++space) {
    if (core.scratchpad[space] == nullptr) continue;
    std::memset(core.scratchpad[space], kUnwritten, core.arch->capacity[space]);
  }
}

}  // namespace npu::runtime
