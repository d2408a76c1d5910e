// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "op/tensor.h"

namespace op {

/// How the window of a convolution moves; vertical, horizontal.
struct Window {
  int64_t step[2];
  int64_t padding[2];
};

/// Elements of workspace that each of the three takes, of the dtype of its operands.
///   input   (n, c, h, w)
///   weight  (co, c, kh, kw)
///   output  (n, co, ho, wo)
int64_t MyConvWorkspace(const Tensor& input, const Tensor& weight, const Tensor& output,
                        const Window& window);
int64_t MyConvBackwardInputWorkspace(const Tensor& gradient, const Tensor& weight,
                                     const Tensor& input, const Window& window);
int64_t MyConvBackwardWeightWorkspace(const Tensor& gradient, const Tensor& input,
                                      const Tensor& weight, const Window& window);

/// output = bias + sum of input under the window times weight, summed in float32 (float64 for
/// float64) and rounded once. Operands have any strides, results are contiguous.
///   bias  of co elements, or null
Status MyConv(const Tensor& input, const Tensor& weight, const Tensor* bias, const Window& window,
              const Tensor& output, void* workspace, Launcher& launcher);

/// The gradient of input from that of output.
Status MyConvBackwardInput(const Tensor& gradient, const Tensor& weight, const Window& window,
                           const Tensor& input, void* workspace, Launcher& launcher);

/// The gradient of weight from that of output.
Status MyConvBackwardWeight(const Tensor& gradient, const Tensor& input, const Window& window,
                            const Tensor& weight, void* workspace, Launcher& launcher);

}  // namespace op
