// SPDX-License-Identifier: Apache-2.0
#include "op/my_cross_entropy.h"

#include "op/rows.h"

namespace op {
namespace {

constexpr const char* kWhere = "npu::my_cross_entropy";

Labels LabelsOf(const Target& target, int64_t rows, int64_t classes) {
  return {rows, target.stride, classes, target.ignored};
}

/// Tiles of x, and of z where it has the shape of x.
Status FillTiling(const Tensor& x, int64_t z_stride, RowTiling<2>* tiling) {
  RowDimensions<2> dimensions;
  dimensions.Keep(x.shape[0], {z_stride, x.strides[0]});
  dimensions.ReduceRows(x.shape[1], {1, 1});
  return dimensions.Fill(kWhere, tiling);
}

Status LaunchLosses(const Tensor& x, const Target& target, bool rounded, void* z,
                    Launcher& launcher) {
  struct {
    void* z;
    const void* x;
    const void* target;
    RowTiling<2> tiling;
    Labels labels;
    int64_t rounded;
  } args = {z, x.data, target.data, {}, LabelsOf(target, x.shape[0], x.shape[1]), rounded};
  const Status status = FillTiling(x, 1, &args.tiling);
  if (!status.ok()) return status;
  return LaunchFor("my_cross_entropy", x.dtype, x.shape[0] * x.shape[1], &args, sizeof(args),
                   launcher);
}

}  // namespace

Status MyCrossEntropy(const Tensor& x, const Target& target, LossReduction reduction, void* losses,
                      const Tensor& z, Launcher& launcher) {
  const bool is_reduced = reduction != LossReduction::kNone;
  if (x.shape[0] != 0) {
    const Status status =
        LaunchLosses(x, target, !is_reduced, is_reduced ? losses : z.data, launcher);
    if (!status.ok()) return status;
  }
  if (!is_reduced) return {};
  const struct {
    void* z;
    const void* losses;
    const void* target;
    Labels labels;
    LossReduction reduction;
  } args = {z.data, losses, target.data, LabelsOf(target, x.shape[0], x.shape[1]), reduction};
  return LaunchFor("my_cross_entropy_reduce", x.dtype, 1, &args, sizeof(args), launcher);
}

Status MyCrossEntropyBackwardScale(const Tensor& gradient, const Target& target, int64_t rows,
                                   LossReduction reduction, void* scales, Launcher& launcher) {
  if (rows == 0) return {};
  const struct {
    void* scales;
    const void* gradient;
    const void* target;
    Labels labels;
    LossReduction reduction;
    int64_t stride;
  } args = {scales,      gradient.data,
            target.data, LabelsOf(target, rows, 0),
            reduction,   gradient.dims == 0 ? 0 : gradient.strides[0]};
  return LaunchFor("my_cross_entropy_backward_scale", gradient.dtype, 1, &args, sizeof(args),
                   launcher);
}

Status MyCrossEntropyBackward(const Tensor& x, const Target& target, const void* scales,
                              const Tensor& z, Launcher& launcher) {
  struct {
    void* z;
    const void* x;
    const void* scales;
    const void* target;
    RowTiling<2> tiling;
    Labels labels;
  } args = {z.data, x.data, scales, target.data, {}, LabelsOf(target, x.shape[0], x.shape[1])};
  if (x.shape[0] == 0) return {};
  const Status status = FillTiling(x, z.strides[0], &args.tiling);
  if (!status.ok()) return status;
  return LaunchFor("my_cross_entropy_backward", x.dtype, x.shape[0] * x.shape[1], &args,
                   sizeof(args), launcher);
}

}  // namespace op
