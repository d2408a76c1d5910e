// SPDX-License-Identifier: Apache-2.0
// The gradient of an operator, without the compile time of torch's headers for it in each
// operator's file.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <initializer_list>
#include <vector>

namespace npu_host {

/// Gradients of the inputs from the gradient of the output, which is defined.
using Backward = std::function<std::vector<at::Tensor>(const at::Tensor& gradient)>;

/// True if a gradient of one of the inputs will be asked for.
bool GradientWanted(std::initializer_list<at::Tensor> inputs);

/// Enters into the graph that output was computed from inputs, and how to go back. name shows as
/// its grad_fn.
///   output    fresh: computed below autograd
///   backward  one gradient per input, undefined where there is none
void RecordGradient(const char* name, std::initializer_list<at::Tensor> inputs,
                    const at::Tensor& output, Backward backward);

}  // namespace npu_host
