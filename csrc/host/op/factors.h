// SPDX-License-Identifier: Apache-2.0
// What operators that multiply tensors ask of them.
#pragma once

#include <ATen/core/Tensor.h>

namespace npu_host {

/// A tensor argument and its name.
struct Factor {
  const char* name;
  const at::Tensor& tensor;
};

/// Raises unless first is a tensor of a floating point dtype with dims dimensions. layout: what
/// they are, for the sentence.
void CheckFactor(const char* where, const Factor& first, int64_t dims, const char* layout);

/// Raises unless other has the dtype and device of first.
void CheckSameKindAs(const char* where, const Factor& first, const Factor& other);

}  // namespace npu_host
