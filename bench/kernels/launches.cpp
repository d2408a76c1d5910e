// SPDX-License-Identifier: Apache-2.0
// Launches of an empty kernel from C++.
#include "npu/core_layout.hpp"
#include "npu/kernel.h"
#include "npu_runtime.h"

namespace {

const npuKernelPass kPass = {[](const void*) {}, 0, npu::kCoreLayout};
const npuKernel kEmpty = {"empty", &kPass, nullptr};

}  // namespace

/// Launches an empty kernel of blocks vector cores, each time synchronised; the error of the first
/// call that fails.
extern "C" __attribute__((visibility("default"))) int launch_empty(int blocks, int times) {
  npuStream_t stream;
  npuError_t error = npuStreamGetDefault(0, &stream);
  for (int i = 0; i < times && error == NPU_SUCCESS; ++i) {
    error = npuLaunchKernel(&kEmpty, static_cast<uint32_t>(blocks), nullptr, 0, stream);
    if (error == NPU_SUCCESS) error = npuStreamSynchronize(stream);
  }
  return error;
}
