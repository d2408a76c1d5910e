// SPDX-License-Identifier: Apache-2.0
// Questions about devices, as C++ code of packages asks them.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include "torch_npu/csrc/core/npu/NPUException.h"

namespace torch_npu::utils {

inline bool is_npu(const at::Tensor& tensor) { return tensor.is_privateuseone(); }
inline bool is_npu(const at::TensorOptions& options) { return options.device().is_privateuseone(); }
inline bool is_npu(const at::Device& device) { return device.is_privateuseone(); }

inline c10::Device place_of(const at::Tensor& tensor) { return tensor.device(); }
inline c10::Device place_of(const at::TensorOptions& options) { return options.device(); }
inline c10::Device place_of(const at::Device& device) { return device; }

template <class T>
void torch_check_npu(const T& value) {
  TORCH_CHECK(is_npu(value), "torch_npu::utils::torch_check_npu: expected one on npu, got one on ",
              place_of(value).str());
}

inline c10::DeviceType get_npu_device_type() { return c10::DeviceType::PrivateUse1; }

}  // namespace torch_npu::utils
