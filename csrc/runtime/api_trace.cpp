// SPDX-License-Identifier: Apache-2.0
// The C ABI: instructions with their operands.
#include <string>

#include "npu_trace.h"
#include "observe/trace_recorder.hpp"
#include "runtime/device.hpp"
#include "runtime/process.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face
using npu::TraceRecorder;

namespace {

npuError_t NoSuch(const char* function, const void* pointer, const char* what, size_t count,
                  size_t index) {
  if (pointer == nullptr)
    return Invalid(function, std::string("a pointer for the ") + what, "NULL");
  return Invalid(function, std::string("an index of a ") + what + " below " + std::to_string(count),
                 index);
}

const TraceRecorder::Operand* OperandOf(size_t step, size_t index) {
  const TraceRecorder::Step* found = TraceRecorder::GetStep(step);
  return found != nullptr && index < found->operands.size() ? &found->operands[index] : nullptr;
}

}  // namespace

npuError_t npuTraceStart(const npuTraceConfig* config) {
  return Asking(__func__, [&](const char* function) {
    if (config == nullptr) return Invalid(function, "a configuration", "NULL");
    const bool is_complete = (config->kernels != nullptr || config->kernel_count == 0) &&
                             (config->blocks != nullptr || config->block_count == 0) &&
                             (config->instructions != nullptr || config->instruction_count == 0);
    if (!is_complete) return Invalid(function, "a list for each count but 0", "NULL");
    TraceRecorder::Request request;
    request.with_values = config->with_values != 0;
    request.most_bytes = config->most_bytes;
    request.kernels.assign(config->kernels, config->kernels + config->kernel_count);
    request.blocks.assign(config->blocks, config->blocks + config->block_count);
    request.instructions.assign(config->instructions,
                                config->instructions + config->instruction_count);
    TraceRecorder::Start(request);
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceStop(void) {
  return Asking(__func__, [] {
    TraceRecorder::Stop();
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceForget(void) {
  return Asking(__func__, [] {
    TraceRecorder::Forget();
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceCount(size_t* steps, size_t* tiles, int* is_whole) {
  return Asking(__func__, [&](const char* function) {
    if (steps == nullptr || tiles == nullptr || is_whole == nullptr) {
      return Invalid(function, "pointers for both numbers and is_whole", "NULL");
    }
    const TraceRecorder::Summary summary = TraceRecorder::Count();
    *steps = summary.steps;
    *tiles = summary.tiles;
    *is_whole = summary.is_whole ? 1 : 0;
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceGetStep(size_t index, npuTraceStep* step) {
  return Asking(__func__, [&](const char* function) {
    const TraceRecorder::Step* found = TraceRecorder::GetStep(index);
    if (step == nullptr || found == nullptr) {
      return NoSuch(function, step, "step", TraceRecorder::Count().steps, index);
    }
    *step = {found->name,
             found->kernel,
             found->core == npu::CoreType::kCube ? "cube" : "vector",
             npu::PipeName(found->pipe),
             found->launch,
             found->block,
             found->sub_block,
             found->number,
             found->order,
             found->has_results ? 1 : 0,
             found->call_site,
             found->operands.size()};
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceGetOperand(size_t step, size_t index, npuTraceOperand* operand) {
  return Asking(__func__, [&](const char* function) {
    const TraceRecorder::Operand* found = OperandOf(step, index);
    if (operand == nullptr || found == nullptr) {
      const TraceRecorder::Step* of = TraceRecorder::GetStep(step);
      return NoSuch(function, operand, "operand", of == nullptr ? 0 : of->operands.size(), index);
    }
    const TraceRecorder::Step& of = *TraceRecorder::GetStep(step);
    const bool has_values = found->is_write ? of.has_results : of.has_sources;
    *operand = {npu::SpaceName(found->space),
                found->is_write ? 1 : 0,
                found->is_atomic ? 1 : 0,
                found->parts.size(),
                found->tiles.data(),
                found->tiles.size(),
                found->compact_rows,
                found->compact_cols,
                has_values ? TraceRecorder::ValuesOf(*found) : nullptr,
                has_values ? found->bytes : 0};
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceGetPart(size_t step, size_t operand, size_t index, npuTracePart* part) {
  return Asking(__func__, [&](const char* function) {
    const TraceRecorder::Operand* of = OperandOf(step, operand);
    const size_t count = of == nullptr ? 0 : of->parts.size();
    if (part == nullptr || index >= count) return NoSuch(function, part, "part", count, index);
    const TraceRecorder::Part& found = of->parts[index];
    *part = {static_cast<int64_t>(reinterpret_cast<uintptr_t>(found.begin) - of->base), found.rows,
             found.row_bytes, found.pitch};
    return NPU_SUCCESS;
  });
}

npuError_t npuTraceGetTile(size_t index, npuTraceTile* tile) {
  return Asking(__func__, [&](const char* function) {
    const TraceRecorder::Tile* found = TraceRecorder::GetTile(index);
    if (tile == nullptr || found == nullptr) {
      return NoSuch(function, tile, "tile", TraceRecorder::Count().tiles, index);
    }
    *tile = {found->kind,      found->dtype,   found->rows,
             found->cols,      found->address, found->bytes,
             found->call_site, found->layout,  found->is_compact ? 1 : 0};
    return NPU_SUCCESS;
  });
}
