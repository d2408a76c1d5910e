// SPDX-License-Identifier: Apache-2.0
// The C ABI: launches in random order.
#include "runtime/process.hpp"
#include "runtime/random_order.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face

npuError_t npuRandomOrderStart(uint64_t seed) {
  return Asking(__func__, [&](const char* function) {
    if (StartRandomOrder(seed)) return NPU_SUCCESS;
    return Invalid(function, "no random order that is on already", "one");
  });
}

npuError_t npuRandomOrderStop(void) {
  return Asking(__func__, [] {
    StopRandomOrder();
    return NPU_SUCCESS;
  });
}
