// SPDX-License-Identifier: Apache-2.0
// torch.ops.my_ops.scaled_add: schema, kernels for npu and cpu, shape of the result. The gradient
// stands in my_op_package/__init__.py.
#include "scaled_add.h"

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "npu/launch_kernel.hpp"

namespace {

constexpr const char* kWhere = "my_ops::scaled_add";
constexpr int64_t kColumns = 2048;  // elements of a tile of the kernel
constexpr int64_t kMaxBlocks = 40;

void CheckOperands(const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK_TYPE(x.scalar_type() == at::kFloat, kWhere, ": expected x of dtype Float, got ",
                   x.scalar_type());
  TORCH_CHECK_TYPE(y.scalar_type() == at::kFloat, kWhere, ": expected y of dtype Float, got ",
                   y.scalar_type());
  TORCH_CHECK_VALUE(x.sym_sizes() == y.sym_sizes(), kWhere, ": expected y of size ", x.sym_sizes(),
                    " (the size of x), got ", y.sym_sizes());
}

at::Tensor ScaledAdd(const at::Tensor& x, const at::Tensor& y, double alpha) {  // npu and cpu
  CheckOperands(x, y);
  const at::Tensor z = at::empty(x.sizes(), x.options());
  const int64_t count = z.numel();
  if (count == 0) return z;
  const int64_t blocks = std::min((count + kColumns - 1) / kColumns, kMaxBlocks);
  NPU_LAUNCH_KERNEL(scaled_add, blocks, z, x.contiguous(), y.contiguous(), alpha, count);
  return z;
}

at::Tensor ScaledAddMeta(const at::Tensor& x, const at::Tensor& y, double /*alpha*/) {
  CheckOperands(x, y);
  return at::empty_symint(x.sym_sizes(), x.options());
}

}  // namespace

TORCH_LIBRARY(my_ops, m) { m.def("scaled_add(Tensor x, Tensor y, float alpha) -> Tensor"); }
TORCH_LIBRARY_IMPL(my_ops, PrivateUse1, m) { m.impl("scaled_add", ScaledAdd); }
TORCH_LIBRARY_IMPL(my_ops, CPU, m) { m.impl("scaled_add", ScaledAdd); }
TORCH_LIBRARY_IMPL(my_ops, Meta, m) { m.impl("scaled_add", ScaledAddMeta); }
