// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>

#include <optional>

namespace npu_backend {

/// What the cells of recurrent networks share.

using OptionalTensor = std::optional<at::Tensor>;

/// The tensor, undefined when there is none.
inline at::Tensor ValueOf(const OptionalTensor& tensor) { return tensor.value_or(at::Tensor()); }

inline at::Tensor WithBias(const at::Tensor& gates, const OptionalTensor& bias) {
  const at::Tensor added = ValueOf(bias);
  return added.defined() ? gates + added : gates;
}

/// Derivatives of sigmoid and tanh, from their values.
inline at::Tensor SigmoidSlope(const at::Tensor& value) { return value * (1 - value); }
inline at::Tensor TanhSlope(const at::Tensor& value) { return 1 - value * value; }

}  // namespace npu_backend
