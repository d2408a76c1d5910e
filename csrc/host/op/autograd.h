// SPDX-License-Identifier: Apache-2.0
// Gradients of operators, without the headers that torch::autograd::Function needs.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <initializer_list>
#include <vector>

namespace npu_host {

using TensorList = std::vector<at::Tensor>;

/// What a way back is given.
struct BackwardCall {
  const TensorList& gradients;      // of the outputs, all defined
  const TensorList& saved;          // as they were given to RecordGradient
  const std::vector<bool>& wanted;  // for each input, whether its gradient is asked for

  const at::Tensor& gradient() const { return gradients[0]; }
};

/// Gradients of the inputs, one each, undefined where there is none. It computes with operators
/// that are differentiable, so that gradients have gradients.
using Backward = std::function<TensorList(const BackwardCall& call)>;

/// True if a gradient of one of the inputs will be asked for. An input may be undefined. Raises
/// when one has a tangent: an operator without forward mode must not drop it.
bool GradientWanted(std::initializer_list<at::Tensor> inputs);

/// Enters into the graph that outputs were computed from inputs, and how to go back. name shows as
/// their grad_fn.
///   outputs   fresh: computed below autograd
///   saved     inputs and outputs that the way back needs; changing one in place before it is an
///             error that names it, hooks for saved tensors see them
void RecordGradient(const char* name, std::initializer_list<at::Tensor> inputs,
                    at::TensorList outputs, at::TensorList saved, Backward backward);

/// The same for an operator that computes in place: run() changes self, the first of inputs, below
/// autograd. self may be saved, as it is afterwards.
void RecordInPlace(const char* name, const at::Tensor& self,
                   std::initializer_list<at::Tensor> inputs, at::TensorList saved,
                   const std::function<void()>& run, Backward backward);

}  // namespace npu_host
