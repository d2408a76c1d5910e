// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace npu_python {

/// Adds the functions hazards_... and the constants HAZARD_... to module.
void DefineHazards(pybind11::module_& module);

}  // namespace npu_python
