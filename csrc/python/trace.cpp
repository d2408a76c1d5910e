// SPDX-License-Identifier: Apache-2.0
#include "python/trace.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "npu_trace.h"
#include "python/check.h"

namespace npu_python {
namespace {

namespace py = pybind11;

std::vector<const char*> TextsOf(const std::vector<std::string>& list) {
  std::vector<const char*> texts;
  texts.reserve(list.size());
  for (const std::string& text : list) texts.push_back(text.c_str());
  return texts;
}

void Start(bool with_values, uint64_t most_bytes, const std::vector<std::string>& kernels,
           const std::vector<uint32_t>& blocks, const std::vector<std::string>& instructions) {
  const std::vector<const char*> kernel_texts = TextsOf(kernels);
  const std::vector<const char*> instruction_texts = TextsOf(instructions);
  const npuTraceConfig config = {
      with_values ? 1 : 0, most_bytes,    kernel_texts.data(),      kernel_texts.size(),
      blocks.data(),       blocks.size(), instruction_texts.data(), instruction_texts.size()};
  Check(npuTraceStart(&config));
}

py::tuple Operand(size_t step, size_t index) {
  npuTraceOperand operand = {};
  Check(npuTraceGetOperand(step, index, &operand));
  py::list parts;
  for (size_t i = 0; i < operand.part_count; ++i) {
    npuTracePart part = {};
    Check(npuTraceGetPart(step, index, i, &part));
    parts.append(py::make_tuple(part.offset, part.rows, part.row_bytes, part.pitch_bytes));
  }
  py::object values = py::none();
  if (operand.values != nullptr) {
    values = py::bytes(static_cast<const char*>(operand.values), operand.value_bytes);
  }
  return py::make_tuple(operand.space, operand.is_write != 0, operand.is_atomic != 0,
                        py::tuple(parts),
                        std::vector<uint32_t>(operand.tiles, operand.tiles + operand.tile_count),
                        values, py::make_tuple(operand.compact_rows, operand.compact_cols));
}

struct Counts {
  size_t steps = 0, tiles = 0;
  int is_whole = 0;
};

Counts Count() {
  Counts counts;
  Check(npuTraceCount(&counts.steps, &counts.tiles, &counts.is_whole));
  return counts;
}

py::list Steps() {
  const size_t steps = Count().steps;
  py::list list;
  for (size_t i = 0; i < steps; ++i) {
    npuTraceStep step = {};
    Check(npuTraceGetStep(i, &step));
    py::list operands;
    for (size_t j = 0; j < step.operand_count; ++j) operands.append(Operand(i, j));
    list.append(py::make_tuple(step.name, step.kernel, step.core, step.pipe, step.launch,
                               step.block, step.sub_block, step.number, step.order,
                               step.has_results != 0, reinterpret_cast<uintptr_t>(step.call_site),
                               operands));
  }
  return list;
}

py::list Tiles() {
  const size_t tiles = Count().tiles;
  py::list list;
  for (size_t i = 0; i < tiles; ++i) {
    npuTraceTile tile = {};
    Check(npuTraceGetTile(i, &tile));
    list.append(py::make_tuple(tile.kind, tile.dtype, tile.rows, tile.cols, tile.address,
                               tile.bytes, reinterpret_cast<uintptr_t>(tile.call_site), tile.layout,
                               tile.is_compact != 0));
  }
  return list;
}

bool IsWhole() { return Count().is_whole != 0; }

}  // namespace

void DefineTrace(py::module_& module) {
  module.def("trace_start", &Start, py::arg("with_values"), py::arg("most_bytes"),
             py::arg("kernels"), py::arg("blocks"), py::arg("instructions"),
             "Records instructions from now on; an empty list stands for all.");
  module.def("trace_stop", [] { Check(npuTraceStop()); }, "Stops; records stay.");
  module.def("trace_forget", [] { Check(npuTraceForget()); }, "Frees what was recorded.");
  module.def("trace_steps", &Steps, "Instructions with their operands, as cores came to them.");
  module.def("trace_tiles", &Tiles, "The tiles that operands name by their index.");
  module.def("trace_is_whole", &IsWhole, "Whether all was recorded.");
}

}  // namespace npu_python
