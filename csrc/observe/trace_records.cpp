// SPDX-License-Identifier: Apache-2.0
#include "observe/trace_records.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace npu {
namespace {

template <class T, class Value>
bool IsEmptyOrHas(const std::vector<T>& list, const Value& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

/// Bytes that a record takes, values among them.
size_t SizeOf(const TraceRecorder::Step& step, bool with_values) {
  size_t bytes = sizeof(step);
  for (const TraceRecorder::Operand& operand : step.operands) {
    bytes += sizeof(operand) + operand.parts.size() * sizeof(operand.parts[0]) +
             operand.tiles.size() * sizeof(operand.tiles[0]);
    if (with_values) bytes += operand.bytes;
  }
  return bytes;
}

}  // namespace

TraceRecords& TraceRecords::Get() {
  static auto* const records = new TraceRecords;  // outlives static destructors
  return *records;
}

bool TraceRecords::Wants(const char* kernel) const { return IsEmptyOrHas(request.kernels, kernel); }

bool TraceRecords::Wants(uint32_t block) const { return IsEmptyOrHas(request.blocks, block); }

bool TraceRecords::WantsInstruction(const char* name) const {
  return IsEmptyOrHas(request.instructions, name);
}

uint32_t TraceRecords::NumberOf(const TraceRecorder::Tile& tile) {
  const TileKey key{tile.kind,    tile.dtype, tile.rows,      tile.cols,   tile.space,
                    tile.address, tile.bytes, tile.call_site, tile.layout, tile.is_compact};
  const auto [found, is_new] = tile_numbers_.emplace(key, static_cast<uint32_t>(tiles.size()));
  if (is_new) tiles.push_back(tile);
  return found->second;
}

size_t TraceRecords::Add(TraceRecorder::Step step) {
  const size_t bytes = SizeOf(step, request.with_values);
  if (bytes > request.most_bytes - used_bytes) {
    is_on = false;
    is_whole = false;
    return SIZE_MAX;
  }
  used_bytes += bytes;
  for (TraceRecorder::Operand& operand : step.operands) {
    if (!request.with_values) operand.bytes = 0;
    operand.values_at = values.size();
    values.resize(values.size() + operand.bytes);
  }
  steps.push_back(std::move(step));
  return steps.size() - 1;
}

void TraceRecords::Copy(size_t step, bool is_write) {
  for (const TraceRecorder::Operand& operand : steps[step].operands) {
    if (operand.is_write != is_write || operand.bytes == 0) continue;
    std::byte* to = values.data() + operand.values_at;
    for (const TraceRecorder::Part& part : operand.parts) {
      const std::byte* row = part.begin;
      for (size_t i = 0; i < part.rows; ++i, row += part.pitch, to += part.row_bytes) {
        std::memcpy(to, row, part.row_bytes);
      }
    }
  }
  (is_write ? steps[step].has_results : steps[step].has_sources) = true;
}

void TraceRecords::Clear() {
  ++start;
  is_on = false;
  is_whole = true;
  launches = 0;
  executed = 0;
  used_bytes = 0;
  steps = {};
  tiles = {};
  values = {};
  tile_numbers_.clear();
  texts.clear();
}

}  // namespace npu
