// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernel/tiling/labels.h"
#include "op/tensor.h"

namespace op {

using ::LossReduction;

/// The classes of the rows of x, int64.
struct Target {
  const void* data;
  int64_t stride;   // in elements
  int64_t ignored;  // a label of rows that count for nothing
};

/// z = the cross entropy of the rows of x and their classes, log(sum of exp(x)) - x of the class,
/// in float32 (float64 for float64), rounded once; its sum or mean over rows that are not ignored.
/// A label that is neither a class nor ignored is a fault of the kernel.
///   x       (rows, classes), any stride over rows, contiguous classes; float32, float16, bfloat16
///           or float64
///   losses  room for a float32 (float64) for each row, where they are summed; may be z itself
///   z       an element for each row, contiguous, or one; the dtype of x
Status MyCrossEntropy(const Tensor& x, const Target& target, LossReduction reduction, void* losses,
                      const Tensor& z, Launcher& launcher);

/// scales = the gradient of z for each row, of a mean divided by the rows that count, 0 for those
/// that do not; float32 (float64 for float64), contiguous.
///   gradient  of z
Status MyCrossEntropyBackwardScale(const Tensor& gradient, const Target& target, int64_t rows,
                                   LossReduction reduction, void* scales, Launcher& launcher);

/// z = (softmax(x) - onehot(target)) * scales: the gradient of x.
///   z  contiguous, the shape and dtype of x
Status MyCrossEntropyBackward(const Tensor& x, const Target& target, const void* scales,
                              const Tensor& z, Launcher& launcher);

}  // namespace op
