// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "op/tensor.h"

namespace op {

/// How the rows of x are normed: x^ = (x - mean) / sqrt(mean of (x - mean)^2 + eps), where mean is
/// 0 unless centered. Computed in float32 (float64 for float64), rounded once.
struct NormRule {
  double eps;
  bool centered;
};

/// Tensors of norms have the norm's rows as their last dimension, contiguous; other dimensions have
/// any strides. dtypes: float32, float16, bfloat16 or float64. Where weight and bias have null as
/// data they are not there; they have the shape of a row.

/// z = x^ * weight + bias, centered.
Status MyLayerNorm(const Tensor& x, const void* weight, const void* bias, double eps,
                   const Tensor& z, Launcher& launcher);

/// z = x^ * weight, not centered.
Status MyRmsNorm(const Tensor& x, const void* weight, double eps, const Tensor& z,
                 Launcher& launcher);

/// z = the gradient of x, from that of x^ * weight.
Status MyNormBackward(const Tensor& gradient, const Tensor& x, const void* weight, NormRule rule,
                      const Tensor& z, Launcher& launcher);

/// The means (if centered) and the factors 1 / sqrt(...) of all rows of x, one after the other, in
/// float32 (float64 for float64).
struct NormStatistics {
  void* mean;
  void* scale;
};
Status MyNormStatistics(const Tensor& x, NormRule rule, const NormStatistics& statistics,
                        Launcher& launcher);

/// z = the gradient of weight: the sum over all rows of gradient * x^.
///   z  contiguous, the shape of a row
Status MyNormWeightBackward(const Tensor& gradient, const Tensor& x,
                            const NormStatistics& statistics, NormRule rule, void* z,
                            Launcher& launcher);

}  // namespace op
