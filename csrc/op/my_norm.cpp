// SPDX-License-Identifier: Apache-2.0
#include "op/my_norm.h"

#include <string>

#include "op/rows.h"

namespace op {
namespace {

int64_t Length(const Tensor& x) { return x.shape[x.dims - 1]; }

int64_t RowCount(const Tensor& x) {
  int64_t rows = 1;
  for (int d = 0; d < x.dims - 1; ++d) rows *= x.shape[d];
  return rows;
}

/// Strides of something with an element, or none, per row of x, one after the other.
class PerRow {
 public:
  PerRow(const Tensor& x, int64_t step) {
    for (int d = x.dims - 2; d >= 0; --d) {
      stride_[d] = step;
      step *= x.shape[d];
    }
  }
  int64_t operator[](int d) const { return stride_[d]; }

 private:
  int64_t stride_[Dimensions<1>::kMax];
};

/// The dimensions of rows of z and x..., which are reduced.
template <int kOperands>
RowDimensions<kOperands> RowsOf(const Tensor* const (&operands)[kOperands]) {
  const Tensor& z = *operands[0];
  RowDimensions<kOperands> dimensions;
  for (int d = 0; d < z.dims - 1; ++d) {
    int64_t stride[kOperands];
    for (int k = 0; k < kOperands; ++k) stride[k] = operands[k]->strides[d];
    dimensions.Keep(z.shape[d], stride);
  }
  int64_t inner[kOperands];
  for (int64_t& each : inner) each = 1;
  dimensions.ReduceRows(Length(z), inner);
  return dimensions;
}

}  // namespace

Status MyLayerNorm(const Tensor& x, const void* weight, const void* bias, double eps,
                   const Tensor& z, Launcher& launcher) {
  struct {
    void* z;
    const void* x;
    const void* weight;
    const void* bias;
    RowTiling<2> tiling;
    double eps;
  } args = {z.data, x.data, weight, bias, {}, eps};
  const int64_t elements = RowCount(z) * Length(z);
  if (elements == 0) return {};
  const Status status = RowsOf<2>({&z, &x}).Fill("npu::my_layer_norm", &args.tiling);
  if (!status.ok()) return status;
  return LaunchFor("my_layer_norm", z.dtype, elements, &args, sizeof(args), launcher);
}

Status MyRmsNorm(const Tensor& x, const void* weight, double eps, const Tensor& z,
                 Launcher& launcher) {
  struct {
    void* z;
    const void* x;
    const void* weight;
    RowTiling<2> tiling;
    double eps;
  } args = {z.data, x.data, weight, {}, eps};
  const int64_t elements = RowCount(z) * Length(z);
  if (elements == 0) return {};
  const Status status = RowsOf<2>({&z, &x}).Fill("npu::my_rms_norm", &args.tiling);
  if (!status.ok()) return status;
  return LaunchFor("my_rms_norm", z.dtype, elements, &args, sizeof(args), launcher);
}

Status MyNormBackward(const Tensor& gradient, const Tensor& x, const void* weight, NormRule rule,
                      const Tensor& z, Launcher& launcher) {
  struct {
    void* z;
    const void* gradient;
    const void* x;
    const void* weight;
    RowTiling<3> tiling;
    NormOptions options;
  } args = {z.data, gradient.data, x.data, weight, {}, {rule.eps, rule.centered}};
  const int64_t elements = RowCount(z) * Length(z);
  if (elements == 0) return {};
  const Status status =
      RowsOf<3>({&z, &gradient, &x}).Fill("npu::my_layer_norm_backward", &args.tiling);
  if (!status.ok()) return status;
  return LaunchFor("my_norm_backward", z.dtype, elements, &args, sizeof(args), launcher);
}

Status MyNormStatistics(const Tensor& x, NormRule rule, const NormStatistics& statistics,
                        Launcher& launcher) {
  struct {
    void* mean;
    void* scale;
    const void* x;
    RowTiling<2> tiling;
    NormOptions options;
  } args = {statistics.mean, statistics.scale, x.data, {}, {rule.eps, rule.centered}};
  const int64_t elements = RowCount(x) * Length(x);
  if (elements == 0) return {};
  const PerRow per_row(x, 1);
  RowDimensions<2> dimensions;
  for (int d = 0; d < x.dims - 1; ++d) dimensions.Keep(x.shape[d], {per_row[d], x.strides[d]});
  dimensions.ReduceRows(Length(x), {0, 1});
  const Status status = dimensions.Fill("npu::my_layer_norm", &args.tiling);
  if (!status.ok()) return status;
  return LaunchFor("my_norm_statistics", x.dtype, elements, &args, sizeof(args), launcher);
}

Status MyNormWeightBackward(const Tensor& gradient, const Tensor& x,
                            const NormStatistics& statistics, NormRule rule, void* z,
                            Launcher& launcher) {
  struct {
    void* z;
    const void* gradient;
    const void* x;
    const void* mean;
    const void* scale;
    RowTiling<4> tiling;
    NormOptions options;
  } args = {
      z, gradient.data, x.data, statistics.mean, statistics.scale, {}, {rule.eps, rule.centered}};
  if (Length(x) == 0) return {};
  const PerRow per_row(x, 1);
  RowDimensions<4> dimensions;
  for (int d = 0; d < x.dims - 1; ++d)
    dimensions.Keep(x.shape[d], {0, gradient.strides[d], x.strides[d], per_row[d]});
  dimensions.ReduceAllBut(Length(x), {1, 1, 1, 0});
  const Status status = dimensions.Fill("npu::my_layer_norm_backward_weight", &args.tiling);
  if (!status.ok()) return status;
  // The kernel's tiles are narrow: as many blocks as there are pieces of 8 blocks of 32 bytes.
  constexpr int64_t kRows = kTileBlocks / 8;
  return LaunchFor("my_norm_weight_backward", x.dtype, Length(x) * kRows, &args, sizeof(args),
                   launcher);
}

}  // namespace op
