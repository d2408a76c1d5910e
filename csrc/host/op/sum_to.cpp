// SPDX-License-Identifier: Apache-2.0
#include "op/sum_to.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>

#include "op/autograd.h"
#include "op/define.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::sum_to";

/// Raises unless a tensor of size broadcasts to x.
template <class Sizes>
void CheckSize(const Sizes& x_sizes, const Sizes& size) {
  bool fits = size.size() <= x_sizes.size();
  const size_t leading = fits ? x_sizes.size() - size.size() : 0;
  for (size_t d = 0; fits && d < size.size(); ++d)
    fits = size[d] == x_sizes[leading + d] || size[d] == 1;
  TORCH_CHECK(fits, kWhere, ": expected a size that broadcasts to ", x_sizes,
              " (the size of x), got ", size);
}

void CheckX(const at::Tensor& x) {
  CheckOperand(kWhere, "x", x);
  TORCH_CHECK(x.is_floating_point(), kWhere, ": expected x of a floating point dtype, got ",
              x.scalar_type());
}

at::Tensor SumToKernel(const at::Tensor& x, c10::IntArrayRef size) {  // PrivateUse1 and CPU
  CheckX(x);
  CheckSize(x.sizes(), size);
  const at::Tensor z = at::empty(size, x.options());
  // The dimensions that z lacks are summed too: for the kernel it has them, with extent 1.
  c10::SmallVector<int64_t, 6> shape(x.dim() - size.size(), 1), strides(x.dim() - size.size(), 0);
  shape.append(size.begin(), size.end());
  strides.append(z.strides().begin(), z.strides().end());
  const Operand operand(x, x.sizes());
  const op::Tensor from = operand;
  const op::Tensor to = {z.data_ptr(), from.dtype, from.dims, shape.data(), strides.data()};
  TensorLauncher launcher(z, {x});
  Check(op::SumTo(from, to, launcher));
  return z;
}

at::Tensor SumToMeta(const at::Tensor& x, c10::SymIntArrayRef size) {
  CheckX(x);
  CheckSize(x.sym_sizes(), size);
  return at::empty_symint(size, x.options());
}

at::Tensor SumToAutograd(const at::Tensor& x, c10::SymIntArrayRef size) {
  static const auto op = Operator<at::Tensor(const at::Tensor&, c10::SymIntArrayRef)>(kWhere);
  at::Tensor z = [&] {
    const at::AutoDispatchBelowADInplaceOrView below;
    return op.call(x, size);
  }();
  if (GradientWanted({x})) {
    RecordGradient("SumToBackward", {x}, z, {},
                   [x_size = x.sym_sizes().vec()](const BackwardCall& call) {
                     return TensorList{call.gradient().expand_symint(x_size)};
                   });
  }
  return z;
}

void Define() {
  DefineOperator("sum_to(Tensor x, SymInt[] size) -> Tensor", SumToKernel, SumToMeta, SumToAutograd,
                 Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor SumTo(const at::Tensor& x, c10::SymIntArrayRef size) {
  static const auto op = Operator<at::Tensor(const at::Tensor&, c10::SymIntArrayRef)>(kWhere);
  return x.sym_sizes() == size ? x : op.call(x, size);
}

}  // namespace npu_host
