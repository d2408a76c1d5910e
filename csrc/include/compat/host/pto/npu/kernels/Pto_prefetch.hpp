// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace pto {

/// What asks the chip for a copy of memory in its cache before a kernel reads it. Memory here has
/// no such cache to be told of: nothing is queued. kUseSdma, kCores: who would copy on the chip.
template <bool kUseSdma = true, int kCores = -1>
void PTO_PREFETCH(void* tensor, uint64_t bytes, void* stream) {
  static_assert(kUseSdma || kCores > 0, "PTO_PREFETCH: expected a number of cores");
  static_cast<void>(tensor);
  static_cast<void>(bytes);
  static_cast<void>(stream);
}

}  // namespace pto
