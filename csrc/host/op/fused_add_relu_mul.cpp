// SPDX-License-Identifier: Apache-2.0
#include "op/fused_add_relu_mul.h"

#include "op/autograd.h"
#include "op/broadcast.h"
#include "op/define.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::fused_add_relu_mul";

at::Tensor Compute(const at::Tensor& x, const at::Tensor& y,
                   const at::Tensor& z) {  // PrivateUse1 and CPU
  const at::Tensor out = BroadcastResult(kWhere, {x, y, z});
  const c10::IntArrayRef size = out.sizes();
  TensorLauncher launcher(out, {x, y, z});
  Check(op::FusedAddReluMul(Operand(x, size), Operand(y, size), Operand(z, size),
                            Operand(out, size), launcher));
  return out;
}

at::Tensor Meta(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z) {
  return BroadcastMeta(kWhere, {x, y, z});
}

/// relu(x + y) is computed again: it costs less than to keep it.
TensorList GoBack(const BackwardCall& call) {
  const at::Tensor &x = call.saved[0], &y = call.saved[1], &z = call.saved[2];
  const at::Tensor rectified = FusedAddRelu(x, y);
  TensorList gradients(3);
  if (call.wanted[0] || call.wanted[1]) {
    const at::Tensor to_rectified = SumTo(MyMul(call.gradient(), z), rectified.sym_sizes());
    const at::Tensor gradient = ReluBackward(to_rectified, rectified);
    gradients[0] = SumTo(gradient, x.sym_sizes());
    gradients[1] = SumTo(gradient, y.sym_sizes());
  }
  if (call.wanted[2]) gradients[2] = SumTo(MyMul(call.gradient(), rectified), z.sym_sizes());
  return gradients;
}

at::Tensor Autograd(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor out = CallBelowAutograd(op, x, y, z);
  if (GradientWanted({x, y, z}))
    RecordGradient("FusedAddReluMulBackward", {x, y, z}, out, {x, y, z}, GoBack);
  return out;
}

void Define() {
  DefineOperator("fused_add_relu_mul(Tensor x, Tensor y, Tensor z) -> Tensor", Compute, Meta,
                 Autograd, Autocast::kWidest);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace
}  // namespace npu_host
