// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace npu_python {

/// Functions that record instructions with their operands.
void DefineTrace(pybind11::module_& module);

}  // namespace npu_python
