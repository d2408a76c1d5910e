// SPDX-License-Identifier: Apache-2.0
#include "python/hazards.h"

#include <cstdint>

#include "npu_runtime.h"
#include "python/check.h"

namespace npu_python {
namespace {

namespace py = pybind11;

py::object Side(const npuFindingSide& side) {
  if (side.instruction == nullptr) return py::none();
  return py::make_tuple(side.instruction, side.pipe, side.core, side.block, side.sub_block,
                        side.begin, side.end, reinterpret_cast<uintptr_t>(side.call_site));
}

py::list Findings() {
  size_t count = 0;
  Check(npuHazardsCount(&count));
  py::list list;
  for (size_t i = 0; i < count; ++i) {
    npuFinding found = {};
    Check(npuHazardsFinding(i, &found));
    list.append(py::make_tuple(found.kind, found.kernel, found.space, found.begin, found.end,
                               Side(found.first), Side(found.second), found.mend, found.times));
  }
  return list;
}

/// Waits for all devices. What launches have found is no error here: it stands in the findings.
void Await() {
  const py::gil_scoped_release release;
  int devices = 0, current = 0;
  Check(npuGetDeviceCount(&devices));
  Check(npuGetDevice(&current));
  npuError_t first = NPU_SUCCESS;
  for (int device = 0; device < devices; ++device) {
    Check(npuSetDevice(device));
    npuError_t error = NPU_SUCCESS;
    do {
      error = npuDeviceSynchronize();  // each time one stream tells of its launches
    } while (error == NPU_ERROR_HAZARD);
    if (first == NPU_SUCCESS) first = error;
    if (error == NPU_ERROR_INTERRUPTED) break;
  }
  Check(npuSetDevice(current));
  // The interpreter raises an interrupt when the call has returned.
  if (first != NPU_ERROR_INTERRUPTED) Check(first);
}

}  // namespace

void DefineHazards(py::module_& module) {
  module.attr("HAZARD_ORDER") = NPU_HAZARD_ORDER;
  module.attr("HAZARD_UNWRITTEN") = NPU_HAZARD_UNWRITTEN;
  module.attr("HAZARD_OVERLAP") = NPU_HAZARD_OVERLAP;
  module.attr("HAZARD_FLAG") = NPU_HAZARD_FLAG;
  module.attr("HAZARD_RANGE") = NPU_HAZARD_RANGE;
  module.attr("HAZARD_VECTOR_ORDER") = NPU_HAZARD_VECTOR_ORDER;
  module.attr("HAZARD_DEFAULT") = NPU_HAZARD_DEFAULT;
  module.attr("HAZARD_QUIET") = NPU_HAZARD_QUIET;
  module.def(
      "hazards_start", [](uint32_t kinds) { Check(npuHazardsStart(kinds)); }, py::arg("kinds"),
      "Forgets findings and checks launches that start from now on.");
  module.def("hazards_stop", [] { Check(npuHazardsStop()); }, "Stops; findings stay.");
  module.def("hazards_await", &Await,
             "Waits for all devices; raises what has failed, but not what was found.");
  module.def("hazards_findings", &Findings, "What was found since the last start.");
}

}  // namespace npu_python
