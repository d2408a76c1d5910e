// SPDX-License-Identifier: Apache-2.0
#include "op/fused_add_relu.h"

#include "op/autograd.h"
#include "op/broadcast.h"
#include "op/define.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::fused_add_relu";

at::Tensor Compute(const at::Tensor& x, const at::Tensor& y) {  // PrivateUse1 and CPU
  const at::Tensor z = BroadcastResult(kWhere, {x, y});
  TensorLauncher launcher(z, {x, y});
  Check(op::FusedAddRelu(Operand(x, z.sizes()), Operand(y, z.sizes()), Operand(z, z.sizes()),
                         launcher));
  return z;
}

at::Tensor Meta(const at::Tensor& x, const at::Tensor& y) { return BroadcastMeta(kWhere, {x, y}); }

at::Tensor Autograd(const at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor z = CallBelowAutograd(op, x, y);
  if (GradientWanted({x, y})) {
    RecordGradient(
        "FusedAddReluBackward", {x, y}, z, {z},
        [x_size = x.sym_sizes().vec(), y_size = y.sym_sizes().vec()](const BackwardCall& call) {
          const at::Tensor gradient = ReluBackward(call.gradient(), call.saved[0]);
          return TensorList{SumTo(gradient, x_size), SumTo(gradient, y_size)};
        });
  }
  return z;
}

void Define() {
  DefineOperator("fused_add_relu(Tensor x, Tensor y) -> Tensor", Compute, Meta, Autograd,
                 Autocast::kWidest);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace

at::Tensor FusedAddRelu(const at::Tensor& x, const at::Tensor& y) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  return op.call(x, y);
}

}  // namespace npu_host
