// SPDX-License-Identifier: Apache-2.0
// Arguments of cross entropy that its operator and the ways back share.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

#include "op/my_cross_entropy.h"

namespace npu_host {

/// Raises unless reduction is one of "none", "mean" and "sum".
op::LossReduction ReductionOf(const char* where, std::string_view reduction);

/// Raises unless x is a floating (rows, classes) and target has an int64 for each row, on its
/// device. Where labels are at hand, on CPU, each must be a class or ignored.
void CheckLogits(const char* where, const at::Tensor& x, const at::Tensor& target, int64_t ignored);

/// Raises unless target holds int64 on the device of x, which is called name.
void CheckTarget(const char* where, const char* name, const at::Tensor& x,
                 const at::Tensor& target);

/// target as an operand of kernels.
op::Target TargetOf(const at::Tensor& target, int64_t ignored);

/// An empty tensor for a number per row, of the type that x is computed in.
at::Tensor EmptyPerRow(const at::Tensor& x, c10::IntArrayRef sizes);

/// What softmax - onehot of each row is multiplied with on the way back.
at::Tensor CrossEntropyScales(const at::Tensor& gradient, const at::Tensor& target, int64_t ignored,
                              op::LossReduction reduction);

/// The gradient of x, by the differentiable operator.
at::Tensor CrossEntropyBackward(const at::Tensor& gradient, const at::Tensor& x,
                                const at::Tensor& target, int64_t ignored,
                                std::string_view reduction);

}  // namespace npu_host
