// SPDX-License-Identifier: Apache-2.0
#include "op/sum_to.h"

#include "kernel/tiling.h"
#include "op/dimensions.h"
#include "op/kernel_library.h"

namespace op {
namespace {

struct Args {
  void* z;
  const void* x;
  SumTiling tiling;
};

// The stride of z is 0 in summed dimensions, so that only dimensions of one kind merge.
enum Operand { kX, kZ };

/// True if z has one element where x has several.
bool IsSummed(const Tensor& x, const Tensor& z, int d) {
  return z.shape[d] == 1 && x.shape[d] != 1;
}

Dimensions<2> MergeDimensions(const Tensor& x, const Tensor& z) {
  Dimensions<2> dimensions;
  for (int d = 0; d < x.dims; ++d) {
    dimensions.Append(x.shape[d], {x.strides[d], IsSummed(x, z, d) ? 0 : z.strides[d]});
  }
  if (dimensions.inner_stride(kX) != 0 && dimensions.inner_stride(kX) != 1)
    dimensions.AppendAsIs(1, {1, 1});
  dimensions.PadToTwo();
  return dimensions;
}

}  // namespace

Status SumTo(const Tensor& x, const Tensor& z, Launcher& launcher) {
  if (z.dtype == DType::kInt32) {
    return Status::Invalid("npu::sum_to: expected x of a floating point dtype, got Int");
  }
  int64_t outputs = 1;
  for (int d = 0; d < z.dims; ++d) outputs *= z.shape[d];
  if (outputs == 0) return {};
  const Dimensions<2> dimensions = MergeDimensions(x, z);
  Status status = CheckDims("npu::sum_to", "x", dimensions.count());
  if (!status.ok()) return status;
  Args args{z.data, x.data, {}};
  args.tiling.dims = dimensions.count();
  for (int d = 0; d < dimensions.count(); ++d) {
    args.tiling.shape[d] = dimensions.shape(d);
    args.tiling.x_stride[d] = dimensions.stride(kX, d);
    args.tiling.z_stride[d] = dimensions.stride(kZ, d);
    args.tiling.kept[d] = dimensions.stride(kZ, d) != 0 || dimensions.shape(d) == 1;
  }
  return LaunchFor("sum_to", z.dtype, outputs, &args, sizeof(args), launcher);
}

}  // namespace op
