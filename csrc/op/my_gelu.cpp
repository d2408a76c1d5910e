// SPDX-License-Identifier: Apache-2.0
#include "op/my_gelu.h"

#include <string>

#include "op/elementwise.h"

namespace op {
namespace {

std::string NameOf(Gelu form) { return form == Gelu::kTanh ? "my_gelu_tanh" : "my_gelu"; }

}  // namespace

Status MyGelu(Gelu form, const Tensor& x, const Tensor& z, Launcher& launcher) {
  return Elementwise("npu::my_gelu", NameOf(form), z, {x}, launcher);
}

Status MyGeluBackward(Gelu form, const Tensor& gradient, const Tensor& x, const Tensor& z,
                      Launcher& launcher) {
  return Elementwise("npu::my_gelu_backward", NameOf(form) + "_backward", z, {gradient, x},
                     launcher);
}

Status MyGeluBackwardTwice(Gelu form, const Tensor& gradient, const Tensor& tangent,
                           const Tensor& x, const Tensor& z, Launcher& launcher) {
  return Elementwise("npu::my_gelu_backward_twice", NameOf(form) + "_backward_twice", z,
                     {gradient, tangent, x}, launcher);
}

}  // namespace op
