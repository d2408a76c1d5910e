// SPDX-License-Identifier: Apache-2.0
#include "op/my_softmax.h"

#include <string>

#include "op/rows.h"

namespace op {
namespace {

template <int kOperands>
RowDimensions<kOperands> DimensionsOf(const Tensor* const (&operands)[kOperands], int dim) {
  const Tensor& z = *operands[0];
  RowDimensions<kOperands> dimensions;
  int64_t extent = 1, reduced[kOperands] = {};
  for (int d = 0; d < z.dims; ++d) {
    int64_t stride[kOperands];
    for (int k = 0; k < kOperands; ++k) stride[k] = operands[k]->strides[d];
    if (d != dim) {
      dimensions.Keep(z.shape[d], stride);
      continue;
    }
    extent = z.shape[d];
    for (int k = 0; k < kOperands; ++k) reduced[k] = stride[k];
  }
  if (extent > 1 && RowDimensions<kOperands>::IsContiguous(reduced)) {
    dimensions.ReduceRows(extent, reduced);
  } else {
    dimensions.ReduceColumns(extent, reduced);
  }
  return dimensions;
}

int64_t Elements(const Tensor& x) {
  int64_t elements = 1;
  for (int d = 0; d < x.dims; ++d) elements *= x.shape[d];
  return elements;
}

}  // namespace

Status MySoftmax(const Tensor& x, int dim, const Tensor& z, Launcher& launcher) {
  struct {
    void* z;
    const void* x;
    RowTiling<2> tiling;
  } args = {z.data, x.data, {}};
  if (Elements(z) == 0) return {};
  const RowDimensions<2> dimensions = DimensionsOf<2>({&z, &x}, dim);
  const Status status = dimensions.Fill("npu::my_softmax", &args.tiling);
  if (!status.ok()) return status;
  const char* name = dimensions.along_rows() ? "my_softmax" : "my_softmax_columns";
  return LaunchFor(name, z.dtype, Elements(z), &args, sizeof(args), launcher);
}

Status MySoftmaxBackward(const Tensor& gradient, const Tensor& result, int dim, const Tensor& z,
                         Launcher& launcher) {
  struct {
    void* z;
    const void* gradient;
    const void* result;
    RowTiling<3> tiling;
  } args = {z.data, gradient.data, result.data, {}};
  if (Elements(z) == 0) return {};
  const RowDimensions<3> dimensions = DimensionsOf<3>({&z, &gradient, &result}, dim);
  const Status status = dimensions.Fill("npu::my_softmax_backward", &args.tiling);
  if (!status.ok()) return status;
  const char* name =
      dimensions.along_rows() ? "my_softmax_backward" : "my_softmax_columns_backward";
  return LaunchFor(name, z.dtype, Elements(z), &args, sizeof(args), launcher);
}

}  // namespace op
