// SPDX-License-Identifier: Apache-2.0
#include "op/my_add.h"

#include "kernel/tiling.h"
#include "op/dimensions.h"
#include "op/kernel_library.h"

namespace op {
namespace {

struct Args {
  void* z;
  const void* x;
  const void* y;
  BinaryTiling tiling;
};

enum Operand { kX, kY, kZ };

Dimensions<3> MergeDimensions(const Tensor& x, const Tensor& y, const Tensor& z) {
  Dimensions<3> dimensions;
  for (int d = 0; d < z.dims; ++d)
    dimensions.Append(z.shape[d], {x.strides[d], y.strides[d], z.strides[d]});
  // A tile row is contiguous, or one value repeated. Any other stride becomes the distance of rows
  // of one element.
  const auto row_like = [&](int operand) {
    return dimensions.inner_stride(operand) == 0 || dimensions.inner_stride(operand) == 1;
  };
  if (!row_like(kX) || !row_like(kY) || dimensions.inner_stride(kZ) != 1)
    dimensions.AppendAsIs(1, {1, 1, 1});
  dimensions.PadToTwo();
  return dimensions;
}

}  // namespace

Status MyAdd(const Tensor& x, const Tensor& y, const Tensor& z, Launcher& launcher) {
  int64_t elements = 1;
  for (int d = 0; d < z.dims; ++d) elements *= z.shape[d];
  if (elements == 0) return {};
  const Dimensions<3> dimensions = MergeDimensions(x, y, z);
  const Status status = CheckDims("npu::my_add", "operands", dimensions.count());
  if (!status.ok()) return status;
  Args args{z.data, x.data, y.data, {}};
  args.tiling.dims = dimensions.count();
  for (int d = 0; d < dimensions.count(); ++d) {
    args.tiling.shape[d] = dimensions.shape(d);
    args.tiling.x_stride[d] = dimensions.stride(kX, d);
    args.tiling.y_stride[d] = dimensions.stride(kY, d);
    args.tiling.z_stride[d] = dimensions.stride(kZ, d);
  }
  return LaunchFor("my_add", z.dtype, elements, &args, sizeof(args), launcher);
}

}  // namespace op
