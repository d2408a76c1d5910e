// SPDX-License-Identifier: Apache-2.0
// The part of the vendor's runtime below acl.h that programs with tile kernels use.
#pragma once

#include <cstdint>

#include "npu_runtime.h"

using rtError_t = int32_t;
inline constexpr rtError_t RT_ERROR_NONE = 0;

/// Where flags between cores lie, for set_ffts_base_addr.
inline rtError_t rtGetC2cCtrlAddr(uint64_t* address, uint32_t* bytes) {
  return npuGetCrossCoreAddress(address, bytes);
}
