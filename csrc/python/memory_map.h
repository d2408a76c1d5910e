// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace npu_python {

/// Adds the functions memory_map_... and locate to module.
void DefineMemoryMap(pybind11::module_& module);

}  // namespace npu_python
