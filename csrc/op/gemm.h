// SPDX-License-Identifier: Apache-2.0
// Products of matrices, as operators are made of them.
#pragma once

#include <cstdint>

#include "kernel/tiling/gemm.h"
#include "op/tensor.h"

namespace op {

/// Strides of a matrix whose elements are contiguous in one direction or the other, which is what
/// can be multiplied; false if neither are.
bool FindLines(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
               GemmMatrix* matrix);

/// Elements behind Gemm::ones.
constexpr int kGemmOnes = 128;

/// batch products c = bias + a_0 b_0 + a_1 b_1 + ..., summed in float (float64 for float64),
/// rounded once. All data has dtype.
struct Gemm {
  DType dtype;
  GemmTiling tiling;
  void* c;
  const void* a;
  const void* b;
  const void* bias = nullptr;  // one for each row of c, or null
  const void* ones = nullptr;  // kGemmOnes of them, where there is a bias

  /// Computes it. where: the operator, for errors.
  Status Launch(const char* where, Launcher& launcher) const;
};

}  // namespace op
