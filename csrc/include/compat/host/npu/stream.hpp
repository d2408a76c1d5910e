// SPDX-License-Identifier: Apache-2.0
// What a null stream of the vendor's interface stands for.
#pragma once

#include "npu_runtime.h"

namespace npu {

/// given, or the default stream of the current device.
inline npuError_t ResolveStream(void* given, npuStream_t* stream) {
  *stream = static_cast<npuStream_t>(given);
  if (given != nullptr) return NPU_SUCCESS;
  int device = 0;
  const npuError_t error = npuGetDevice(&device);
  return error != NPU_SUCCESS ? error : npuStreamGetDefault(device, stream);
}

}  // namespace npu
