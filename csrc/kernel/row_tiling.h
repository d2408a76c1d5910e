// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels that reduce dimensions and give a result for each element.
// Plain data, passed by value.
#pragma once

#include <cstdint>

#include "tiling.h"

/// An operation over dims >= 2 dimensions of which some are reduced. The last two are what tiles
/// have: one is reduced, the other not. stride[0] is that of the result; strides are in elements,
/// the last one is 0 or 1 (of the result 1).
template <int kOperands>
struct RowTiling {
  int64_t dims;
  int64_t along_rows;  // 1: the last dimension is reduced, 0: the one before it
  int64_t shape[kMaxDims];
  int64_t reduced[kMaxDims];
  int64_t stride[kOperands][kMaxDims];
};

/// What norms are told besides.
struct NormOptions {
  double eps;        // what is added to the mean square
  int64_t centered;  // 1: the mean of a row is subtracted from it
};
