// SPDX-License-Identifier: Apache-2.0
#include "op/my_gemm.h"

#include <ATen/ops/empty.h>

#include "op/autograd.h"
#include "op/define.h"
#include "op/factors.h"
#include "op/operand.h"
#include "op/operators.h"
#include "op/unfold.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_gemm";

void CheckMatrices(const at::Tensor& a, const at::Tensor& b) {
  CheckFactor(kWhere, {"a", a}, 2, "(m, k)");
  CheckFactor(kWhere, {"b", b}, 2, "(k, n)");
  CheckSameKindAs(kWhere, {"a", a}, {"b", b});
  TORCH_CHECK(a.sym_size(1) == b.sym_size(0), kWhere, ": expected b of ", a.sym_size(1),
              " rows (the columns of a), got ", b.sym_size(0));
}

/// matrix, or a copy whose rows are contiguous when no elements of it are.
at::Tensor AsFactor(const at::Tensor& matrix) {
  const Operand operand(matrix, matrix.sizes());
  if (op::IsFactor(operand)) return matrix;
  at::Tensor packed = at::empty(matrix.sizes(), matrix.options());
  TensorLauncher launcher(packed, {matrix});
  Check(op::Pack(operand, Operand(packed, packed.sizes()), launcher));
  return packed;
}

at::Tensor Compute(const at::Tensor& a, const at::Tensor& b) {  // PrivateUse1 and CPU
  CheckMatrices(a, b);
  const at::Tensor left = AsFactor(a), right = AsFactor(b);
  at::Tensor c = at::empty({a.size(0), b.size(1)}, a.options());
  TensorLauncher launcher(c, {left, right});
  Check(op::MyGemm(Operand(left, left.sizes()), Operand(right, right.sizes()),
                   Operand(c, c.sizes()), launcher));
  return c;
}

at::Tensor Meta(const at::Tensor& a, const at::Tensor& b) {
  CheckMatrices(a, b);
  return at::empty_symint({a.sym_size(0), b.sym_size(1)}, a.options());
}

at::Tensor Autograd(const at::Tensor& a, const at::Tensor& b) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const at::Tensor c = CallBelowAutograd(op, a, b);
  if (GradientWanted({a, b})) {
    RecordGradient("MyGemmBackward", {a, b}, c, {a, b}, [](const BackwardCall& call) {
      TensorList gradients(2);
      if (call.wanted[0]) gradients[0] = op.call(call.gradient(), call.saved[1].t());
      if (call.wanted[1]) gradients[1] = op.call(call.saved[0].t(), call.gradient());
      return gradients;
    });
  }
  return c;
}

void Define() {
  DefineOperator("my_gemm(Tensor a, Tensor b) -> Tensor", Compute, Meta, Autograd,
                 Autocast::kLower);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere}, &Define);

}  // namespace
}  // namespace npu_host
