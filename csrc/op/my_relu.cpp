// SPDX-License-Identifier: Apache-2.0
#include "op/my_relu.h"

#include "op/elementwise.h"

namespace op {

Status MyRelu(const Tensor& x, const Tensor& z, Launcher& launcher) {
  return Elementwise("npu::my_relu", "my_relu", z, {x}, launcher);
}

Status MyReluBackward(const Tensor& gradient, const Tensor& result, const Tensor& z,
                      Launcher& launcher) {
  return Elementwise("npu::my_relu_backward", "my_relu_backward", z, {gradient, result}, launcher);
}

}  // namespace op
