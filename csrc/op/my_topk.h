// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "op/tensor.h"

namespace op {

/// Which elements of a row come first.
struct TopkRule {
  int64_t k;
  bool largest;
};

/// values, indexes = the k largest or smallest elements of each row of x and their places in it, in
/// order. NaN is the largest, of equal elements the first one goes first.
///   x        any strides but for its last dimension, the row, which is contiguous; float32,
///   float16
///            or bfloat16; at least k and at most 2^31 - 1 elements in a row
///   values   k elements for each row, contiguous, of the dtype of x
///   indexes  as many int64
Status MyTopk(const Tensor& x, TopkRule rule, void* values, void* indexes, Launcher& launcher);

/// z = zeros, but for the places that indexes names in each row: there the elements of gradient.
///   z        contiguous
///   k        elements of gradient and indexes for each row, contiguous
Status MyTopkBackward(const void* gradient, const void* indexes, int64_t k, const Tensor& z,
                      Launcher& launcher);

/// z = the k elements of each row of x that indexes names. Contiguous all.
Status MyTopkBackwardGather(const Tensor& x, const void* indexes, int64_t k, void* z,
                            Launcher& launcher);

}  // namespace op
