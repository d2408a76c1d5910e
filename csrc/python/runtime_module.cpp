// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "npu/isa_levels.hpp"
#include "npu_runtime.h"
#include "python/check.h"
#include "python/hazards.h"
#include "python/kernel.h"
#include "python/memory_map.h"
#include "python/steps.h"
#include "python/trace.h"

namespace {

using npu_python::Check;

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

/// Levels that a kernel can be compiled for on this machine; none where the architecture has but
/// one.
pybind11::list IsaLevels() {
  pybind11::list names;
  if (std::size(npu::kIsaLevels) == 1) return names;
  for (const npu::IsaLevel& level : npu::kIsaLevels) {
    if (level.is_here()) names.append(level.name);
  }
  return names;
}

void SetTensorAccess(pybind11::type tensor, uintptr_t interface) {
  auto& access = npu_python::TensorAccess::Get();
  access.interface = reinterpret_cast<const npuTensorInterface*>(interface);
  access.type = reinterpret_cast<PyTypeObject*>(tensor.release().ptr());  // for good
}

void DefineKernel(pybind11::module_& module) {
  namespace py = pybind11;
  using npu_python::Kernel;
  module.def("isa_levels", &IsaLevels, "Instruction set levels of this machine, the best first.");
  module.def("set_tensor_access", &SetTensorAccess, py::arg("tensor_type"), py::arg("interface"),
             "Tells what a tensor is, and where npuTensorInterface lies.");
  py::class_<Kernel>(module, "Kernel", "A compiled kernel.")
      .def(py::init<const std::string&, const std::string&, const std::string&, bool>(),
           py::arg("name"), py::arg("vector_library"), py::arg("cube_library"),
           py::arg("accept_strided"))
      .def("signature", &Kernel::Signature,
           "(type, kind, bytes, is_pointer, is_const) of each parameter.")
      .def("launch", &Kernel::Launch, py::arg("block_dim"), py::arg("stream"), py::arg("flags"),
           py::arg("args"),
           "Launches; False when an argument for a pointer is neither a tensor nor None.");
}

}  // namespace

PYBIND11_MODULE(_runtime, module) {
  DefineKernel(module);
  npu_python::DefineMemoryMap(module);
  npu_python::DefineHazards(module);
  npu_python::DefineSteps(module);
  npu_python::DefineTrace(module);
  module.doc() = "The emulated device's C interface (npu_runtime.h).";
  module.attr("MAX_BLOCK_DIM") = NPU_MAX_BLOCK_DIM;
  module.attr("MAX_RECORDED_STORES") = NPU_MAX_RECORDED_STORES;
  module.attr("LAUNCH_FLOAT64") = NPU_LAUNCH_FLOAT64;
  module.attr("LAUNCH_ONLY_RANGES") = NPU_LAUNCH_ONLY_RANGES;
  module.attr("TYPE_BFLOAT16") = static_cast<int>(NPU_TYPE_BFLOAT16);
  module.def("soc_name", &SocName, "Name of the emulated system on chip.");
  module.def("launch_count", &LaunchCount, pybind11::arg("kernel"),
             "Launches of kernel that have run to their end.");
  module.def(
      "instruction_count_start", [] { Check(npuInstructionCountStart()); },
      "Starts counting from zero.");
  module.def(
      "instruction_count_stop", [] { Check(npuInstructionCountStop()); },
      "Stops counting; counts stay.");
  module.def(
      "random_order_start", [](uint64_t seed) { Check(npuRandomOrderStart(seed)); },
      pybind11::arg("seed"), "Launches that start from now on run in a random order.");
  module.def("random_order_stop", [] { Check(npuRandomOrderStop()); }, "Back to the usual order.");
  module.def("instruction_count", &InstructionCount, pybind11::arg("name"),
             "Executions of an instruction, and elements over all of them.");
}
