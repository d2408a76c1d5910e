// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernels of top-k. Plain data, passed by value.
#pragma once

#include <cstdint>

#include "../tiling.h"

/// The k best of each row of length contiguous elements. Rows lie as dims dimensions say, outermost
/// first, strides in elements; results are contiguous.
struct TopkTiling {
  int64_t rows;
  int64_t length;
  int64_t k;
  int64_t largest;  // 1: the largest, 0: the smallest
  int64_t dims;
  int64_t shape[kMaxDims];
  int64_t stride[kMaxDims];
};

/// Rows of k elements and the places that they have in rows of length, contiguous all.
struct PlacesTiling {
  int64_t rows;
  int64_t length;
  int64_t k;
};
