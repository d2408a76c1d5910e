// SPDX-License-Identifier: Apache-2.0
#include "op/fused_add_relu.h"

#include "op/elementwise.h"

namespace op {

Status FusedAddRelu(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher) {
  return Elementwise("npu::fused_add_relu", "fused_add_relu", z, {x, y}, launcher);
}

}  // namespace op
