// SPDX-License-Identifier: Apache-2.0
#include "device/strict_dtypes.h"

#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

namespace npu_backend {
namespace {

std::atomic<bool> strict_dtypes = false;

void Define() {
  Extend("npu_backend")
      .def(
          "strict_dtypes(bool enabled) -> bool",
          +[](bool enabled) { return strict_dtypes.exchange(enabled); });
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace

bool StrictDtypes() noexcept { return strict_dtypes.load(std::memory_order_relaxed); }

std::string ReadStrictDtypes() {
  const char* variable = std::getenv("NPU_STRICT_DTYPES");
  const std::string_view value = variable ? variable : "";
  if (value != "" && value != "0" && value != "1") {
    return "npu_backend: NPU_STRICT_DTYPES: expected 0 or 1, got " + std::string(value);
  }
  strict_dtypes = value == "1";
  return "";
}

}  // namespace npu_backend
