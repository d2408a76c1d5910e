// SPDX-License-Identifier: Apache-2.0
// The instructions that a thread of host code has run, for programs for simulators that are built
// with PTO_CPU_SIM_TRACE_MODE.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "npu/host_core.hpp"
#include "npu/observer.hpp"

namespace pto::cpu_sim {

#ifdef PTO_CPU_SIM_TRACE_MODE
inline constexpr bool kInstructionTraceEnabled = true;
#else
inline constexpr bool kInstructionTraceEnabled = false;
#endif

/// A tile that an instruction read or wrote. Of one that TASSIGN placed shape is its rows and
/// columns, else lines and bytes of a line.
struct InstructionTraceTile {
  uint64_t address = 0;
  std::vector<int64_t> shape;
};

struct InstructionTraceRecord {
  std::string opcode;
  uint32_t block_idx = 0;
  uint64_t sequence_id = 0;
  std::vector<InstructionTraceTile> input_tiles;
  std::vector<std::string> scalar_inputs;  // not known: empty
  std::vector<InstructionTraceTile> output_tiles;
};

/// Writes down what its thread's core executes.
class InstructionTracer final : public npu::InstructionObserver {
 public:
  static InstructionTracer& OfThread() {
    static thread_local InstructionTracer tracer;
    return tracer;
  }

  void OnInstruction(const npu::Core& core, const npu::Instruction& instruction) override {
    if (IsOfElement(instruction.name)) return;
    InstructionTraceRecord record;
    record.opcode = instruction.name;
    record.block_idx = core.block_idx;
    record.sequence_id = records.size();
    for (size_t i = 0; i < instruction.access_count; ++i) {
      const npu::Access& access = instruction.accesses[i];
      if (access.space == npu::Space::kGm || access.goes_on) continue;
      (access.is_write ? record.output_tiles : record.input_tiles).push_back(TileOf(access));
    }
    records.push_back(record);
  }
  void OnPlacement(const npu::Core& core, const npu::Placement& placement) override {
    const std::byte* base = core.scratchpad[static_cast<int>(placement.space)];
    shapes_[reinterpret_cast<uintptr_t>(base) + placement.address] = {placement.rows,
                                                                      placement.cols};
  }

  std::vector<InstructionTraceRecord> records;

 private:
  /// Whether it is an access of the scalar pipe to one element, which is no instruction.
  static bool IsOfElement(std::string_view name) {
    return name == "GetValue" || name == "SetValue" || name == "GetElement" || name == "SetElement";
  }
  InstructionTraceTile TileOf(const npu::Access& access) const {
    const auto address = reinterpret_cast<uintptr_t>(access.begin);
    const auto found = shapes_.find(address);
    if (found != shapes_.end()) return {address, found->second};
    return {address, {static_cast<int64_t>(access.rows), static_cast<int64_t>(access.row_bytes)}};
  }

  std::map<uintptr_t, std::vector<int64_t>> shapes_;  // of tiles, by address
};

/// Forgets what this thread has run, and goes on to write down if the program is built for it.
inline void ResetInstructionTrace() {
  InstructionTracer::OfThread().records.clear();
  if (kInstructionTraceEnabled) npu::HostCore().observer = &InstructionTracer::OfThread();
}
inline std::vector<InstructionTraceRecord> CopyInstructionTraceRecords() {
  return InstructionTracer::OfThread().records;
}

inline void WriteTiles(std::ostream& out, const std::vector<InstructionTraceTile>& tiles) {
  for (size_t i = 0; i < tiles.size(); ++i) {
    out << (i == 0 ? "" : ",") << "{\"address\":" << tiles[i].address << ",\"shape\":[";
    for (size_t d = 0; d < tiles[i].shape.size(); ++d) {
      out << (d == 0 ? "" : ",") << tiles[i].shape[d];
    }
    out << "]}";
  }
}

/// One line of JSON for each instruction.
inline void DumpInstructionTraceJson(std::ostream& out) {
  for (const InstructionTraceRecord& record : InstructionTracer::OfThread().records) {
    out << "{\"opcode\":\"" << record.opcode << "\",\"block_idx\":" << record.block_idx
        << ",\"sequence_id\":" << record.sequence_id << ",\"input_tiles\":[";
    WriteTiles(out, record.input_tiles);
    out << "],\"output_tiles\":[";
    WriteTiles(out, record.output_tiles);
    out << "]}\n";
  }
}

}  // namespace pto::cpu_sim
