// SPDX-License-Identifier: Apache-2.0
#include <c10/util/Exception.h>

#include <string>

#include "device/registration.h"

namespace {

/// Runs after the files of this library have added their operators to the list, while the library
/// loads.
const std::string& Registered() {
  static const std::string& sentence =
      *new std::string(npu_backend::RegisterPending("op_extension"));
  return sentence;
}

[[maybe_unused]] const bool booted = [] {
  if (!Registered().empty() && npu_backend::DeviceError().empty()) {
    TORCH_WARN(Registered());
  }
  return true;
}();

}  // namespace

/// For the Python package: "", or why this copy of the library registered no operator.
extern "C" NPU_BACKEND_API const char* op_extension_error() { return Registered().c_str(); }
