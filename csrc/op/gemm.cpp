// SPDX-License-Identifier: Apache-2.0
#include "op/gemm.h"

#include <algorithm>

#include "op/kernel_library.h"
#include "op/unfold.h"

namespace op {
namespace {

struct Args {
  void* c;
  const void* a;
  const void* b;
  const void* bias;
  const void* ones;
  GemmTiling tiling;
};

/// A core each for the tiles of c, as many as there are.
uint32_t BlocksFor(const GemmTiling& tiling, DType dtype) {
  const bool on_cube = dtype != DType::kFloat64;
  const int64_t rows = on_cube ? 128 : 1, cols = on_cube ? 128 : 512;  // of a tile
  const int64_t tiles =
      tiling.batch * ((tiling.m + rows - 1) / rows) * ((tiling.n + cols - 1) / cols);
  const int cores = on_cube ? Cores().cube : Cores().vector;
  return static_cast<uint32_t>(std::clamp<int64_t>(tiles, 1, cores));
}

}  // namespace

bool FindLines(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
               GemmMatrix* matrix) {
  *matrix = {};
  if (cols <= 1 || col_stride == 1) {
    matrix->line = rows > 1 ? row_stride : 1;
  } else if (rows <= 1 || row_stride == 1) {
    matrix->turned = 1;
    matrix->line = col_stride;
  } else {
    return false;
  }
  return true;
}

Status Gemm::Launch(const char* where, Launcher& launcher) const {
  if (tiling.batch == 0 || tiling.m == 0 || tiling.n == 0) return {};
  if ((tiling.k == 0 || tiling.steps == 0) && bias == nullptr) {
    // A sum of nothing: no product would write it.
    UnfoldTiling zeros = {};
    zeros.images = tiling.batch;
    zeros.channels = 1;
    zeros.rows = tiling.m;
    zeros.cols = tiling.n;
    zeros.dst_image = tiling.c_batch;
    zeros.dst_row = tiling.c_row;
    return Unfold(dtype, c, nullptr, zeros, launcher);
  }
  std::string error;
  const npuKernel_t kernel = FindKernel(std::string("my_gemm_") + KernelSuffix(dtype), &error);
  if (!kernel) return Status::Invalid(std::string(where) + ": " + error);
  const Args args{c, a, b, bias, ones, tiling};
  const uint32_t flags = dtype == DType::kFloat64 ? NPU_LAUNCH_FLOAT64 : 0;
  return Status::Of(launcher.Launch(kernel, BlocksFor(tiling, dtype), flags, &args, sizeof(args)));
}

}  // namespace op
