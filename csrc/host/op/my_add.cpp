// SPDX-License-Identifier: Apache-2.0
#include "op/my_add.h"

#include <ATen/ExpandUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "device/registration.h"
#include "op/autograd.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_add";

at::Tensor MyAdd(const at::Tensor& x, const at::Tensor& y) {  // PrivateUse1 and CPU
  CheckOperand(kWhere, "x", x);
  CheckSameKind(kWhere, x, y);
  const at::Tensor z = at::empty(at::infer_size(x.sizes(), y.sizes()), x.options());
  TensorLauncher launcher(z, {x, y});
  Check(op::MyAdd(Operand(x, z.sizes()), Operand(y, z.sizes()), Operand(z, z.sizes()), launcher));
  return z;
}

at::Tensor MyAddMeta(const at::Tensor& x, const at::Tensor& y) {
  CheckOperand(kWhere, "x", x);
  CheckSameKind(kWhere, x, y);
  return at::empty_symint(at::infer_size_symint(x.sym_sizes(), y.sym_sizes()), x.options());
}

at::Tensor BelowAutograd(const at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(MyAdd)>(kWhere);
  const at::AutoDispatchBelowADInplaceOrView below;
  return op.call(x, y);
}

at::Tensor MyAddAutograd(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor z = BelowAutograd(x, y);
  if (GradientWanted({x, y})) {
    RecordGradient(
        "MyAddBackward", {x, y}, z,
        [x_size = x.sym_sizes().vec(), y_size = y.sym_sizes().vec()](const at::Tensor& gradient) {
          return std::vector<at::Tensor>{SumTo(gradient, x_size), SumTo(gradient, y_size)};
        });
  }
  return z;
}

void Define() {
  npu_backend::Extend("npu").def("my_add(Tensor x, Tensor y) -> Tensor");
  npu_backend::Implement("npu", c10::DispatchKey::PrivateUse1).impl("my_add", MyAdd);
  npu_backend::Implement("npu", c10::DispatchKey::CPU).impl("my_add", MyAdd);
  npu_backend::Implement("npu", c10::DispatchKey::Meta).impl("my_add", MyAddMeta);
  npu_backend::Implement("npu", c10::DispatchKey::Autograd).impl("my_add", MyAddAutograd);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace
}  // namespace npu_host
