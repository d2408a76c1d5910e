// SPDX-License-Identifier: Apache-2.0
#include "op/my_mul.h"

#include "op/elementwise.h"

namespace op {

Status MyMul(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher) {
  return Elementwise("npu::my_mul", "my_mul", z, {x, y}, launcher);
}

Status MyMul(const Tensor& x, const Scalar& scalar, const Tensor& z, Launcher& launcher) {
  return Elementwise("npu::my_mul", "my_mul_scalar", z, {x}, launcher, &scalar);
}

}  // namespace op
