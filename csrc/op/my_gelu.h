// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// The exact function, or the one with tanh in place of erf.
enum class Gelu : uint8_t { kExact, kTanh };

/// z = gelu(x), for floating point dtypes; computed in float (float64 for float64), rounded once.
/// Operands as those of MyAdd.
Status MyGelu(Gelu form, const Tensor& x, const Tensor& z, Launcher& launcher);

/// z = gradient * gelu'(x)
Status MyGeluBackward(Gelu form, const Tensor& gradient, const Tensor& x, const Tensor& z,
                      Launcher& launcher);

/// z = gradient * tangent * gelu''(x)
Status MyGeluBackwardTwice(Gelu form, const Tensor& gradient, const Tensor& tangent,
                           const Tensor& x, const Tensor& z, Launcher& launcher);

}  // namespace op
