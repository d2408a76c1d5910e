// SPDX-License-Identifier: Apache-2.0
#include "observe/launch_trace.hpp"

#include <algorithm>
#include <utility>

#include "observe/trace_records.hpp"

namespace npu {
namespace {

using Step = TraceRecorder::Step;
using Operand = TraceRecorder::Operand;
using Part = TraceRecorder::Part;

constexpr size_t kMostTiles = 1024;               // that a core remembers
constexpr size_t kMostCandidates = 8;             // for an operand
constexpr int64_t kMostBytes = int64_t{1} << 46;  // beyond this an instruction is about to be
                                                  // refused

struct Span {
  uintptr_t begin, end;
};

/// From the first to the last byte; empty where that is no size.
Span SpanOf(const Part& part) {
  int64_t last = 0;
  if (part.rows > kMostBytes || part.row_bytes > kMostBytes ||
      __builtin_mul_overflow(static_cast<int64_t>(part.rows) - 1, part.pitch, &last) ||
      last > kMostBytes || last < -kMostBytes) {
    return {0, 0};
  }
  const auto first = reinterpret_cast<uintptr_t>(part.begin);
  const uintptr_t begin = first + static_cast<uintptr_t>(std::min<int64_t>(last, 0));
  return {begin, first + static_cast<uintptr_t>(std::max<int64_t>(last, 0)) + part.row_bytes};
}

/// Where span lies in the capacity bytes at memory.
bool Holds(const std::byte* memory, uint64_t capacity, const Span& span) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  return memory != nullptr && begin <= span.begin && span.end <= begin + capacity;
}

/// The start of the space of a core of the block of core that holds span; null: none.
const std::byte* SpaceThatHolds(const Core& core, Space space, const Span& span) {
  const auto index = static_cast<int>(space);
  const uint64_t capacity = core.arch->capacity[index];
  if (Holds(core.scratchpad[index], capacity, span)) return core.scratchpad[index];
  if (core.sub_block_num == 1) return nullptr;
  Core& asking = const_cast<Core&>(core);  // the instruction itself asks the same
  if (space == Space::kL1) {
    const std::byte* buffer = core.scheduler->CubeBuffer(asking);
    return Holds(buffer, capacity, span) ? buffer : nullptr;
  }
  for (uint32_t i = 0; space == Space::kUb && i < core.sub_block_num; ++i) {
    const std::byte* buffer = core.scheduler->VectorBuffer(asking, i);
    if (Holds(buffer, capacity, span)) return buffer;
  }
  return nullptr;
}

/// Those of tiles that hold all of operand, the one that was placed last first. How long a compact
/// one is, its operands say.
std::vector<uint32_t> TilesOf(const TraceRecords& records, const std::vector<uint32_t>& tiles,
                              const Operand& operand) {
  std::vector<uint32_t> found;
  Span all = SpanOf(operand.parts[0]);
  for (const Part& part : operand.parts) {
    const Span span = SpanOf(part);
    all = {std::min(all.begin, span.begin), std::max(all.end, span.end)};
  }
  for (auto number = tiles.rbegin(); number != tiles.rend(); ++number) {
    const TraceRecorder::Tile& tile = records.tiles[*number];
    const uintptr_t begin = operand.base + tile.address;
    const bool is_compact = operand.compact_rows != 0;
    if (tile.space != operand.space || tile.is_compact != is_compact || all.begin < begin) continue;
    if (!is_compact && begin + tile.bytes < all.end) continue;
    found.push_back(*number);
    if (found.size() == kMostCandidates) break;
  }
  return found;
}

}  // namespace

bool LaunchTrace::Locate(const Core& core, const Part& part, Operand* operand) const {
  const Span span = SpanOf(part);
  if (span.begin >= span.end) return false;
  if (operand->space != Space::kGm) {
    const std::byte* space = SpaceThatHolds(core, operand->space, span);
    operand->base = reinterpret_cast<uintptr_t>(space);
    return space != nullptr;
  }
  const GlobalMemory memory = find_memory_(context_, reinterpret_cast<const void*>(span.begin));
  if (memory.is_known) operand->base = reinterpret_cast<uintptr_t>(memory.begin);
  return memory.is_known && span.end <= reinterpret_cast<uintptr_t>(memory.end);
}

Step LaunchTrace::Describe(const Core& core, const CoreState& state,
                           const Instruction& instruction) const {
  TraceRecords& records = TraceRecords::Get();
  Step step = {};
  step.name = records.Keep(instruction.name);
  step.kernel = records.Keep(core.kernel != nullptr ? core.kernel : "kernel");
  step.launch = number_;
  step.block = core.block_idx;
  step.sub_block = core.sub_block_id;
  step.number = core.instruction;
  step.core = core.type;
  step.pipe = instruction.pipe;
  step.call_site = instruction.call_site;
  bool is_readable = true;
  const auto end_operand = [&] {
    if (step.operands.empty()) return;
    Operand& operand = step.operands.back();
    if (!is_readable) operand.bytes = 0;
    if (is_readable && operand.space != Space::kGm) {
      operand.tiles = TilesOf(records, state.tiles, operand);
    }
  };
  for (size_t i = 0; i < instruction.access_count; ++i) {
    const Access& access = instruction.accesses[i];
    if (step.operands.empty() || !access.goes_on) {
      end_operand();
      is_readable = true;
      Operand operand = {};
      operand.space = access.space;
      operand.is_write = access.is_write;
      operand.is_atomic = access.is_atomic;
      operand.compact_rows = access.compact_rows;
      operand.compact_cols = access.compact_cols;
      step.operands.push_back(std::move(operand));
    }
    Operand& operand = step.operands.back();
    const Part part = {static_cast<const std::byte*>(access.begin), access.rows, access.row_bytes,
                       static_cast<int64_t>(access.pitch_bytes)};
    is_readable = is_readable && Locate(core, part, &operand);
    operand.parts.push_back(part);
    operand.bytes += access.rows * access.row_bytes;
  }
  end_operand();
  return step;
}

void LaunchTrace::Settle(CoreState& state) {
  const size_t step = std::exchange(state.scalar_step, kNoStep);
  TraceRecords& records = TraceRecords::Get();
  if (step != kNoStep && !records.steps[step].has_results) records.Copy(step, true);
}

void LaunchTrace::OnInstruction(const Core& core, const Instruction& instruction) {
  TraceRecords& records = TraceRecords::Get();
  CoreState& state = cores_[KeyOf(core)];
  Settle(state);
  const bool is_counted = core.instruction != std::exchange(state.last_number, core.instruction);
  size_t step = kNoStep;
  if (records.WantsInstruction(instruction.name)) {
    step = records.Add(Describe(core, state, instruction));
  }
  if (is_counted) state.pending[core.instruction] = step;
  if (instruction.pipe != Pipe::kS || step == kNoStep) return;
  state.scalar_step = step;
  records.steps[step].order = ++records.executed;
  records.Copy(step, false);
}

void LaunchTrace::OnPlacement(const Core& core, const Placement& placement) {
  TraceRecords& records = TraceRecords::Get();
  const uint32_t number =
      records.NumberOf({records.Keep(placement.kind), records.Keep(placement.dtype), placement.rows,
                        placement.cols, placement.space, placement.address, placement.bytes,
                        placement.call_site, records.Keep(placement.layout), placement.is_compact});
  std::vector<uint32_t>& tiles = cores_[KeyOf(core)].tiles;
  const auto found = std::find(tiles.begin(), tiles.end(), number);
  if (found != tiles.end()) {
    tiles.erase(found);
  } else if (tiles.size() == kMostTiles) {
    tiles.erase(tiles.begin());
  }
  tiles.push_back(number);
}

void LaunchTrace::OnKernelEnd(const Core& core) {
  CoreState& state = cores_[KeyOf(core)];
  Settle(state);
  state.tiles = {};
}

void LaunchTrace::OnSuspend(const Core& core) {
  CoreState& state = cores_[KeyOf(core)];
  Settle(state);
  // An instruction lets others run when it has written what it writes; one that waits writes
  // nothing.
  if (state.begun == kNoStep) return;
  TraceRecords& records = TraceRecords::Get();
  const std::vector<Operand>& operands = records.steps[state.begun].operands;
  const auto is_write = [](const Operand& operand) { return operand.is_write; };
  if (std::none_of(operands.begin(), operands.end(), is_write)) return;
  records.Copy(state.begun, true);
  for (auto& [number, step] : state.pending) {
    if (step == state.begun) step = kNoStep;
  }
  state.begun = kNoStep;
}

void LaunchTrace::OnBegin(const Core& core) {
  TraceRecords& records = TraceRecords::Get();
  CoreState& state = cores_[KeyOf(core)];
  state.begun = kNoStep;
  const auto found = state.pending.find(core.instruction);
  if (found == state.pending.end() || found->second == kNoStep) return;
  state.begun = found->second;
  if (state.scalar_step == state.begun) state.scalar_step = kNoStep;  // it tells of its end
  Step& step = records.steps[state.begun];
  // One of the scalar pipe has a number since OnInstruction; others may have come between.
  if (step.order == 0 || step.order != records.executed) step.order = ++records.executed;
  records.Copy(state.begun, false);
}

void LaunchTrace::OnEnd(const Core& core) {
  CoreState& state = cores_[KeyOf(core)];
  state.begun = kNoStep;
  // By its number: while one waits, others of its core may have begun and ended.
  const auto found = state.pending.find(core.instruction);
  if (found == state.pending.end()) return;
  if (found->second != kNoStep) TraceRecords::Get().Copy(found->second, true);
  state.pending.erase(found);
}

}  // namespace npu
