// SPDX-License-Identifier: Apache-2.0
#include "python/steps.h"

#include <cstdint>

#include "npu_runtime.h"
#include "python/check.h"

namespace npu_python {
namespace {

namespace py = pybind11;

py::list Steps() {
  size_t count = 0;
  Check(npuStepsCount(&count));
  py::list list;
  for (size_t i = 0; i < count; ++i) {
    npuStep step = {};
    Check(npuStepsStep(i, &step));
    list.append(py::make_tuple(step.kind, step.name, step.kernel, step.core, step.sub_block,
                               step.pipe, step.destination, step.id,
                               reinterpret_cast<uintptr_t>(step.call_site)));
  }
  return list;
}

}  // namespace

void DefineSteps(py::module_& module) {
  module.attr("MAX_RECORDED_STEPS") = NPU_MAX_RECORDED_STEPS;
  module.def(
      "steps_start", [](uint32_t block) { Check(npuStepsStart(block)); }, py::arg("block"),
      "Records what block does from now on.");
  module.def("steps_stop", [] { Check(npuStepsStop()); }, "Stops; records stay.");
  module.def("steps", &Steps, "What the cores of the block did, in order.");
}

}  // namespace npu_python
