// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <stdexcept>

#include "npu_runtime.h"

namespace npu_python {

/// Raises the runtime's sentence: ValueError for a wrong argument, else RuntimeError.
inline void Check(npuError_t error) {
  if (error == NPU_ERROR_INVALID_VALUE) throw pybind11::value_error(npuGetLastErrorMessage());
  if (error != NPU_SUCCESS) throw std::runtime_error(npuGetLastErrorMessage());
}

}  // namespace npu_python
