// SPDX-License-Identifier: Apache-2.0
// Running a lambda as a kernel on an emulated core.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>

#include "access_audit.hpp"
#include "npu/core_layout.hpp"
#include "npu_runtime.h"
#include "pto/pto-inst.hpp"

namespace test {

using Body = std::function<void()>;

enum class On { kVector, kCube };

/// Launches on the default stream and waits for the end.
inline npuError_t RunToEnd(npuLaunchConfig config) {
  if (const npuError_t error = npuStreamGetDefault(0, &config.stream); error != NPU_SUCCESS)
    return error;
  if (const npuError_t error = npuLaunchKernelWithConfig(&config); error != NPU_SUCCESS)
    return error;
  return npuStreamSynchronize(config.stream);
}

inline npuError_t Run(const Body& body, uint32_t blocks = 1, uint32_t flags = 0,
                      On core = On::kVector) {
  static const npuKernelPass kPass = {[](const void* args) {
                                        audit::Listen();
                                        (**static_cast<const Body* const*>(args))();
                                      },
                                      sizeof(Body*), npu::kCoreLayout};
  static const npuKernel kVectorKernel = {"kernel_under_test", &kPass, nullptr};
  static const npuKernel kCubeKernel = {"kernel_under_test", nullptr, &kPass};
  const Body* pointer = &body;
  npuLaunchConfig config = {};
  config.kernel = core == On::kCube ? &kCubeKernel : &kVectorKernel;
  config.block_dim = blocks;
  config.flags = flags;
  config.args = &pointer;
  config.args_bytes = sizeof(pointer);
  return RunToEnd(config);
}

/// Runs body; fails the test if it faults.
inline void OnCore(const Body& body, uint32_t blocks = 1, uint32_t flags = 0) {
  ASSERT_EQ(Run(body, blocks, flags), NPU_SUCCESS) << npuGetLastErrorMessage();
}

/// The same on a cube core.
inline void OnCube(const Body& body, uint32_t blocks = 1) {
  ASSERT_EQ(Run(body, blocks, 0, On::kCube), NPU_SUCCESS) << npuGetLastErrorMessage();
}

/// The sentence of the fault that body must end with; "" if it does not. The core must work
/// afterwards.
inline std::string FaultOf(const Body& body, On core = On::kVector) {
  const npuError_t error = Run(body, 1, 0, core);
  const std::string sentence = error == NPU_SUCCESS ? "" : npuGetLastErrorMessage();
  EXPECT_EQ(error, NPU_ERROR_KERNEL_FAULT) << sentence;
  bool ran = false;
  EXPECT_EQ(Run([&] { ran = true; }, 1, 0, core), NPU_SUCCESS);
  EXPECT_TRUE(ran);
  return sentence;
}

inline void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << "expected \"" << part << "\" in \"" << text << "\"";
}

template <class T>
using Matrix = pto::GlobalTensor<T, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<1, 1, 1, -1, -1>>;

template <class T, int kRows, int kCols>
using VecTile = pto::Tile<pto::TileType::Vec, T, kRows, kCols, pto::BLayout::RowMajor, -1, -1>;

}  // namespace test
