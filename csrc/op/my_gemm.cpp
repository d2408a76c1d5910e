// SPDX-License-Identifier: Apache-2.0
#include "op/my_gemm.h"

#include "op/gemm.h"

namespace op {
namespace {

bool LinesOf(const Tensor& matrix, GemmMatrix* lines) {
  return FindLines(matrix.shape[0], matrix.shape[1], matrix.strides[0], matrix.strides[1], lines);
}

}  // namespace

bool IsFactor(const Tensor& matrix) {
  GemmMatrix lines;
  return LinesOf(matrix, &lines);
}

Status MyGemm(const Tensor& a, const Tensor& b, const Tensor& c, Launcher& launcher) {
  Gemm gemm = {};
  gemm.dtype = c.dtype;
  gemm.tiling.m = a.shape[0];
  gemm.tiling.k = a.shape[1];
  gemm.tiling.n = b.shape[1];
  gemm.tiling.steps = gemm.tiling.batch = 1;
  if (!LinesOf(a, &gemm.tiling.a) || !LinesOf(b, &gemm.tiling.b)) {
    return Status::Invalid(
        "npu::my_gemm: expected matrices with contiguous rows or columns, got other strides");
  }
  gemm.tiling.c_row = gemm.tiling.n;
  gemm.c = c.data;
  gemm.a = a.data;
  gemm.b = b.data;
  return gemm.Launch("npu::my_gemm", launcher);
}

}  // namespace op
