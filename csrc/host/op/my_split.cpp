// SPDX-License-Identifier: Apache-2.0
#include "op/my_split.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/ops/empty.h>

#include <tuple>

#include "op/autograd.h"
#include "op/define.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_split";
constexpr const char* kBackward = "npu::my_split_backward";

using Parts = std::tuple<at::Tensor, at::Tensor>;

/// dim, counted from 0.
int64_t DimOf(const char* where, const char* name, const at::Tensor& x, int64_t dim) {
  CheckOperand(where, name, x);
  TORCH_CHECK(x.dim() > 0, where, ": expected ", name, " of at least one dimension, got none");
  return at::maybe_wrap_dim(dim, x.dim());
}

/// The first part gets the odd element, as of torch.chunk.
template <class Size>
Size FirstOf(const Size& size) {
  return (size + 1) / 2;
}

void CopyTo(const at::Tensor& to, const at::Tensor& from) {
  TensorLauncher launcher(to, {from});
  Check(op::MySplit(Operand(from, from.sizes()), Operand(to, to.sizes()), launcher));
}

Parts Compute(const at::Tensor& x, int64_t given_dim) {  // PrivateUse1 and CPU
  const int64_t dim = DimOf(kWhere, "x", x, given_dim);
  const int64_t first = FirstOf(x.size(dim));
  const auto part = [&](int64_t start, int64_t length) {
    const at::Tensor piece = x.narrow(dim, start, length);
    const at::Tensor z = at::empty(piece.sizes(), x.options());
    CopyTo(z, piece);
    return z;
  };
  return {part(0, first), part(first, x.size(dim) - first)};
}

Parts Meta(const at::Tensor& x, int64_t given_dim) {
  const int64_t dim = DimOf(kWhere, "x", x, given_dim);
  const c10::SymInt first = FirstOf(x.sym_size(dim));
  const auto part = [&](const c10::SymInt& length) {
    c10::SymDimVector size(x.sym_sizes());
    size[dim] = length;
    return at::empty_symint(size, x.options());
  };
  return {part(first), part(x.sym_size(dim) - first)};
}

/// The size of first and second put together.
c10::SymDimVector JoinedSize(const at::Tensor& first, const at::Tensor& second, int64_t dim) {
  CheckSameKind(kBackward, first, second, "second");
  c10::SymDimVector size(first.sym_sizes());
  size[dim] = size[dim] + second.sym_size(dim);
  return size;
}

at::Tensor ComputeBackward(const at::Tensor& first, const at::Tensor& second, int64_t given_dim) {
  const int64_t dim = DimOf(kBackward, "first", first, given_dim);
  const at::Tensor z = at::empty_symint(JoinedSize(first, second, dim), first.options());
  CopyTo(z.narrow(dim, 0, first.size(dim)), first);
  CopyTo(z.narrow(dim, first.size(dim), second.size(dim)), second);
  return z;
}

at::Tensor MetaBackward(const at::Tensor& first, const at::Tensor& second, int64_t given_dim) {
  const int64_t dim = DimOf(kBackward, "first", first, given_dim);
  return at::empty_symint(JoinedSize(first, second, dim), first.options());
}

at::Tensor AutogradBackward(const at::Tensor& first, const at::Tensor& second, int64_t dim) {
  static const auto op = Operator<decltype(ComputeBackward)>(kBackward);
  const at::Tensor z = CallBelowAutograd(op, first, second, dim);
  if (GradientWanted({first, second})) {
    RecordGradient("MySplitBackwardBackward", {first, second}, z, {},
                   [dim](const BackwardCall& call) {
                     static const auto split = Operator<decltype(Compute)>(kWhere);
                     auto [first, second] = split.call(call.gradient(), dim);
                     return TensorList{first, second};
                   });
  }
  return z;
}

Parts Autograd(const at::Tensor& x, int64_t dim) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  const auto [first, second] = CallBelowAutograd(op, x, dim);
  if (GradientWanted({x})) {
    RecordGradient("MySplitBackward", {x}, {first, second}, {}, [dim](const BackwardCall& call) {
      static const auto backward = Operator<decltype(ComputeBackward)>(kBackward);
      return TensorList{backward.call(call.gradients[0], call.gradients[1], dim)};
    });
  }
  return {first, second};
}

void Define() {
  DefineOperator("my_split(Tensor x, int dim) -> (Tensor, Tensor)", Compute, Meta, Autograd,
                 Autocast::kNone);
  DefineOperator("my_split_backward(Tensor first, Tensor second, int dim) -> Tensor",
                 ComputeBackward, MetaBackward, AutogradBackward, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere, kBackward},
                                                              &Define);

}  // namespace
}  // namespace npu_host
