// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace npu_python {

/// Functions that record what the cores of a block do.
void DefineSteps(pybind11::module_& module);

}  // namespace npu_python
