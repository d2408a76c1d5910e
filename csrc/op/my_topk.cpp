// SPDX-License-Identifier: Apache-2.0
#include "op/my_topk.h"

#include <limits>
#include <string>

#include "kernel/tiling/topk.h"
#include "op/dimensions.h"
#include "op/kernel_library.h"

namespace op {
namespace {

constexpr const char* kWhere = "npu::my_topk";

int64_t RowCount(const Tensor& x) {
  int64_t rows = 1;
  for (int d = 0; d < x.dims - 1; ++d) rows *= x.shape[d];
  return rows;
}

int64_t LengthOf(const Tensor& x) { return x.shape[x.dims - 1]; }

/// A sentence when places in a row do not fit the 32 bits that records have for them.
Status CheckLength(int64_t length) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (length <= kMost) return {};
  return Status::Invalid(std::string(kWhere) + ": expected at most " + std::to_string(kMost) +
                         " elements in dimension dim, got " + std::to_string(length));
}

Status LaunchPlaces(const char* name, void* z, const void* from, const void* indexes,
                    const Tensor& x, int64_t k, Launcher& launcher) {
  const struct {
    void* z;
    const void* from;
    const void* indexes;
    PlacesTiling tiling;
  } args = {z, from, indexes, {RowCount(x), LengthOf(x), k}};
  const Status status = CheckLength(LengthOf(x));
  if (!status.ok()) return status;
  return LaunchFor(name, x.dtype, RowCount(x) * LengthOf(x), &args, sizeof(args), launcher);
}

}  // namespace

Status MyTopk(const Tensor& x, TopkRule rule, void* values, void* indexes, Launcher& launcher) {
  struct {
    void* values;
    void* indexes;
    const void* x;
    TopkTiling tiling;
  } args = {values, indexes, x.data, {RowCount(x), LengthOf(x), rule.k, rule.largest, 0, {}, {}}};
  if (RowCount(x) == 0 || rule.k == 0) return {};
  Status status = CheckLength(LengthOf(x));
  if (!status.ok()) return status;
  Dimensions<1> dimensions;
  for (int d = 0; d < x.dims - 1; ++d) dimensions.Append(x.shape[d], {x.strides[d]});
  status = CheckDims(kWhere, "x", dimensions.count());
  if (!status.ok()) return status;
  args.tiling.dims = dimensions.count();
  for (int d = 0; d < dimensions.count(); ++d) {
    args.tiling.shape[d] = dimensions.shape(d);
    args.tiling.stride[d] = dimensions.stride(0, d);
  }
  return LaunchFor("my_topk", x.dtype, RowCount(x) * LengthOf(x), &args, sizeof(args), launcher);
}

Status MyTopkBackward(const void* gradient, const void* indexes, int64_t k, const Tensor& z,
                      Launcher& launcher) {
  if (RowCount(z) == 0 || LengthOf(z) == 0) return {};
  return LaunchPlaces("my_topk_backward", z.data, gradient, indexes, z, k, launcher);
}

Status MyTopkBackwardGather(const Tensor& x, const void* indexes, int64_t k, void* z,
                            Launcher& launcher) {
  if (RowCount(x) == 0 || k == 0) return {};
  return LaunchPlaces("my_topk_backward_gather", z, x.data, indexes, x, k, launcher);
}

}  // namespace op
