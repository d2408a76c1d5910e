// SPDX-License-Identifier: Apache-2.0
// Running two lambdas as the passes of a mixed kernel.
#pragma once

#include <string>

#include "on_core.hpp"

namespace test {

struct Bodies {
  Body cube, vector;
};

/// Runs cube on the cube core and vector on both vector cores of each block.
inline npuError_t RunMixed(const Bodies& bodies, uint32_t blocks = 1) {
  static const npuKernelPass kCube = {[](const void* args) {
                                        audit::Listen();
                                        (*static_cast<const Bodies* const*>(args))->cube();
                                      },
                                      sizeof(Bodies*), npu::kCoreLayout};
  static const npuKernelPass kVector = {[](const void* args) {
                                          audit::Listen();
                                          (*static_cast<const Bodies* const*>(args))->vector();
                                        },
                                        sizeof(Bodies*), npu::kCoreLayout};
  static const npuKernel kKernel = {"mixed", &kVector, &kCube};
  const Bodies* pointer = &bodies;
  npuLaunchConfig config = {};
  config.kernel = &kKernel;
  config.block_dim = blocks;
  config.args = &pointer;
  config.args_bytes = sizeof(pointer);
  return RunToEnd(config);
}

inline void OnMixed(const Body& cube, const Body& vector, uint32_t blocks = 1) {
  ASSERT_EQ(RunMixed({cube, vector}, blocks), NPU_SUCCESS) << npuGetLastErrorMessage();
}

/// The sentence that a mixed kernel must end with; "" if it does not. The cores must work
/// afterwards.
inline std::string MixedEnd(npuError_t code, const Body& cube, const Body& vector,
                            uint32_t blocks = 1) {
  const npuError_t error = RunMixed({cube, vector}, blocks);
  const std::string sentence = error == NPU_SUCCESS ? "" : npuGetLastErrorMessage();
  EXPECT_EQ(error, code) << sentence;
  EXPECT_EQ(RunMixed({[] {}, [] {}}, 3), NPU_SUCCESS);
  return sentence;
}

inline std::string MixedFault(const Body& cube, const Body& vector = [] {}) {
  return MixedEnd(NPU_ERROR_KERNEL_FAULT, cube, vector);
}

}  // namespace test
