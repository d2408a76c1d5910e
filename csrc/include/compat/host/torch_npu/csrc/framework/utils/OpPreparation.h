// SPDX-License-Identifier: Apache-2.0
// How C++ code of packages makes results.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

#include "torch_npu/csrc/core/npu/DeviceUtils.h"
#include "torch_npu/csrc/framework/OpCommand.h"

namespace at_npu::native {

/// Tensors of the one layout that there is here, rows behind each other.
class OpPreparation {
 public:
  static at::Tensor apply_tensor_without_format(const at::Tensor& like) {
    return at::empty(like.sizes(), like.options());
  }
  static at::Tensor apply_tensor_without_format(const at::Tensor& like, c10::IntArrayRef sizes) {
    return at::empty(sizes, like.options());
  }
  static at::Tensor apply_tensor_without_format(c10::IntArrayRef sizes,
                                                const c10::TensorOptions& options) {
    return at::empty(sizes, options);
  }
  static at::Tensor apply_tensor(const at::Tensor& like) {
    return apply_tensor_without_format(like);
  }
  static at::Tensor apply_tensor(const at::Tensor& like, c10::IntArrayRef sizes) {
    return apply_tensor_without_format(like, sizes);
  }
  static at::Tensor apply_tensor(c10::IntArrayRef sizes, const c10::TensorOptions& options,
                                 const at::Tensor& /*like*/) {
    return apply_tensor_without_format(sizes, options);
  }
  /// bytes of memory on the current device.
  static at::Tensor unsafe_empty_workspace(uint64_t bytes) {
    const auto options =
        c10::TensorOptions().device(c10_npu::impl::DeviceAt(-1)).dtype(c10::ScalarType::Byte);
    return at::empty({static_cast<int64_t>(bytes)}, options);
  }
  static bool IsCPUScalar(const at::Tensor& tensor) {
    return tensor.dim() == 0 && !torch_npu::utils::is_npu(tensor);
  }
};

}  // namespace at_npu::native
