// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "device/registration.h"

namespace npu_backend {

/// Whether dtypes that Ascend's operators refuse are refused here, too: npu_backend.strict_dtypes,
/// at first NPU_STRICT_DTYPES.
NPU_BACKEND_API bool StrictDtypes() noexcept;

/// Reads NPU_STRICT_DTYPES: "", or one sentence about its value.
std::string ReadStrictDtypes();

}  // namespace npu_backend
