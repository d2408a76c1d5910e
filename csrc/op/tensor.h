// SPDX-License-Identifier: Apache-2.0
// What operators take and give. No framework in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/npu_runtime.h"

namespace op {

enum class DType : uint8_t { kFloat32, kFloat16, kBfloat16, kInt32, kFloat64 };

inline size_t ElementSize(DType dtype) {
  constexpr size_t kBytes[] = {4, 2, 2, 4, 8};
  return kBytes[static_cast<int>(dtype)];
}

/// Ending of the kernel names for dtype, "half" for kFloat16.
inline const char* KernelSuffix(DType dtype) {
  constexpr const char* kSuffixes[] = {"float", "half", "bfloat16", "int32", "double"};
  return kSuffixes[static_cast<int>(dtype)];
}

/// A strided tensor that somebody else owns. Strides are in elements, outermost first.
struct Tensor {
  void* data;
  DType dtype;
  int dims;
  const int64_t* shape;
  const int64_t* strides;
};

/// Where an operator's work goes: the side that owns the tensors knows the stream, and keeps their
/// memory alive until the work has run.
class Launcher {
 public:
  /// Enqueues block_dim blocks of kernel. args: its parameters as in a C struct, copied. flags:
  /// NPU_LAUNCH_...
  virtual npuError_t Launch(npuKernel_t kernel, uint32_t block_dim, uint32_t flags,
                            const void* args, size_t args_bytes) = 0;

 protected:
  ~Launcher() = default;
};

/// Result of an operator: an error of the runtime, or a sentence about the arguments.
struct Status {
  npuError_t code = NPU_SUCCESS;
  std::string message;

  bool ok() const { return code == NPU_SUCCESS; }
  static Status Of(npuError_t code) {
    return {code, code == NPU_SUCCESS ? "" : npuGetLastErrorMessage()};
  }
  static Status Invalid(std::string message) {
    return {NPU_ERROR_INVALID_VALUE, std::move(message)};
  }
};

}  // namespace op
