// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "npu_runtime.h"

namespace {

void Check(npuError_t error) {
  if (error == NPU_ERROR_INVALID_VALUE) throw pybind11::value_error(npuGetLastErrorMessage());
  if (error != NPU_SUCCESS) throw std::runtime_error(npuGetLastErrorMessage());
}

std::string SocName() {
  const char* name = nullptr;
  Check(npuGetSocName(&name));
  return name;
}

uint64_t LaunchCount(const std::string& kernel) {
  uint64_t launches = 0;
  Check(npuGetLaunchCount(kernel.c_str(), &launches));
  return launches;
}

std::pair<uint64_t, uint64_t> InstructionCount(const std::string& name) {
  uint64_t executions = 0, elements = 0;
  Check(npuInstructionCountGet(name.c_str(), &executions, &elements));
  return {executions, elements};
}

}  // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "The emulated device's C interface (npu_runtime.h).";
  module.def("soc_name", &SocName, "Name of the emulated system on chip.");
  module.def("launch_count", &LaunchCount, pybind11::arg("kernel"),
             "Launches of kernel that have run to their end.");
  module.def(
      "instruction_count_start", [] { Check(npuInstructionCountStart()); },
      "Starts counting from zero.");
  module.def(
      "instruction_count_stop", [] { Check(npuInstructionCountStop()); },
      "Stops counting; counts stay.");
  module.def("instruction_count", &InstructionCount, pybind11::arg("name"),
             "Executions of an instruction, and elements over all of them.");
}
