// SPDX-License-Identifier: Apache-2.0
#include "op/unfold.h"

#include <algorithm>

#include "op/kernel_library.h"

namespace op {
namespace {

struct Args {
  void* dst;
  const void* src;
  UnfoldTiling tiling;
};

}  // namespace

int64_t BitsOfOne(DType dtype) {
  constexpr int64_t kBits[] = {0x3f800000, 0x3c00, 0x3f80, 1, 0x3ff0000000000000};
  return kBits[static_cast<int>(dtype)];
}

Status Unfold(DType dtype, void* dst, const void* src, UnfoldTiling tiling, Launcher& launcher) {
  constexpr int64_t kPieces = 48;  // about as many pieces of work as there are vector cores
  const int64_t taps = (tiling.extra_taps[0] + 1) * (tiling.extra_taps[1] + 1);
  const int64_t elements = tiling.images * tiling.channels * taps * tiling.rows * tiling.cols;
  if (elements == 0) return {};
  tiling.extra_parts = std::clamp<int64_t>(kPieces / taps, 1, tiling.channels) - 1;
  const Args args{dst, src, tiling};
  const DType moved = dtype == DType::kBfloat16 ? DType::kFloat16 : dtype;  // bits are moved
  return LaunchFor("unfold", moved, elements, &args, sizeof(args), launcher);
}

Status Pack(const Tensor& from, const Tensor& to, Launcher& launcher) {
  int64_t shape[4] = {1, 1, 1, 1}, stride[4] = {};
  for (int d = 0; d < from.dims; ++d) {
    shape[4 - from.dims + d] = from.shape[d];
    stride[4 - from.dims + d] = from.strides[d];
  }
  UnfoldTiling tiling = {};
  tiling.images = shape[0];
  tiling.channels = shape[1];
  tiling.height = tiling.rows = shape[2];
  tiling.width = tiling.cols = shape[3];
  tiling.src_image = stride[0];
  tiling.src_channel = stride[1];
  tiling.src_row = stride[2];
  tiling.src_col = stride[3];
  tiling.dst_row = shape[3];
  tiling.dst_channel = shape[2] * shape[3];
  tiling.dst_image = shape[1] * tiling.dst_channel;
  return Unfold(to.dtype, to.data, from.data, tiling, launcher);
}

}  // namespace op
