// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/TensorOperators.h>

#include <optional>

namespace npu_backend {

/// What the cells of recurrent networks share.

using OptionalTensor = std::optional<at::Tensor>;

inline bool Has(const OptionalTensor& tensor) { return tensor && tensor->defined(); }

inline at::Tensor WithBias(const at::Tensor& gates, const OptionalTensor& bias) {
  return Has(bias) ? gates + *bias : gates;
}

/// Derivatives of sigmoid and tanh, from their values.
inline at::Tensor SigmoidSlope(const at::Tensor& value) { return value * (1 - value); }
inline at::Tensor TanhSlope(const at::Tensor& value) { return 1 - value * value; }

}  // namespace npu_backend
