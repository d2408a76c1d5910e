// SPDX-License-Identifier: Apache-2.0
#include "op/fused_add_relu_mul.h"

#include "op/elementwise.h"

namespace op {

Status FusedAddReluMul(const Tensor& x, const Tensor& y, const Tensor& z, const Tensor& out,
                       Launcher& launcher) {
  return Elementwise("npu::fused_add_relu_mul", "fused_add_relu_mul", out, {x, y, z}, launcher);
}

}  // namespace op
