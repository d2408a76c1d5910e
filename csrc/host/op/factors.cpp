// SPDX-License-Identifier: Apache-2.0
#include "op/factors.h"

#include "op/operand.h"

namespace npu_host {

void CheckFactor(const char* where, const Factor& first, int64_t dims, const char* layout) {
  CheckOperand(where, first.name, first.tensor);
  TORCH_CHECK_TYPE(first.tensor.is_floating_point(), where, ": expected ", first.name,
                   " of dtype Float, Half, BFloat16 or Double, got ", first.tensor.scalar_type());
  TORCH_CHECK(first.tensor.dim() == dims, where, ": expected ", first.name, " of ", dims,
              " dimensions ", layout, ", got ", first.tensor.dim());
}

void CheckSameKindAs(const char* where, const Factor& first, const Factor& other) {
  TORCH_CHECK(other.tensor.scalar_type() == first.tensor.scalar_type(), where, ": expected ",
              other.name, " of dtype ", first.tensor.scalar_type(), " (the dtype of ", first.name,
              "), got ", other.tensor.scalar_type());
  TORCH_CHECK(other.tensor.device() == first.tensor.device(), where, ": expected ", other.name,
              " on ", first.tensor.device(), " (the device of ", first.name, "), got ",
              other.tensor.device());
}

}  // namespace npu_host
