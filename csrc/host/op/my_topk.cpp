// SPDX-License-Identifier: Apache-2.0
#include "op/my_topk.h"

#include <ATen/ops/empty.h>

#include <tuple>

#include "op/autograd.h"
#include "op/define.h"
#include "op/last_dim.h"
#include "op/memory.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_topk";
constexpr const char* kBackward = "npu::my_topk_backward";
constexpr const char* kGather = "npu::my_topk_backward_gather";

using Pair = std::tuple<at::Tensor, at::Tensor>;

/// The dtypes that sort instructions have, and bfloat16, which goes through float32.
void CheckFloat(const char* where, const char* name, const at::Tensor& x) {
  CheckOperand(where, name, x);
  TORCH_CHECK_TYPE(x.is_floating_point() && x.scalar_type() != at::kDouble, where, ": expected ",
                   name, " of dtype Float, Half or BFloat16, got ", x.scalar_type());
}

/// Elements of x in a dimension; what has no dimension has one of them.
c10::SymInt Extent(const at::Tensor& x, int64_t dim) {
  return x.dim() == 0 ? c10::SymInt(1) : x.sym_size(dim);
}

/// The size of x with another extent in dimension dim, if it has dimensions.
c10::SymDimVector SizeWith(const at::Tensor& x, int64_t dim, const c10::SymInt& extent) {
  c10::SymDimVector size(x.sym_sizes());
  if (x.dim() != 0) size[dim] = extent;
  return size;
}

int64_t CheckArguments(const at::Tensor& x, int64_t k, int64_t dim) {
  CheckFloat(kWhere, "self", x);
  dim = FrontDim(kWhere, x, dim);
  TORCH_CHECK(k >= 0 && k <= Extent(x, dim), kWhere, ": expected k from 0 to ", Extent(x, dim),
              " (the size of self in dimension ", dim, "), got ", k);
  return dim;
}

Pair Compute(const at::Tensor& x, int64_t k, int64_t dim, bool largest,
             bool /*sorted*/) {  // PrivateUse1 and CPU
  dim = CheckArguments(x, k, dim);
  const at::Tensor rows = WithDimLast(x, dim, false);
  c10::DimVector size(rows.sizes());
  size.back() = x.dim() == 0 ? 1 : k;  // as torch: what has no dimension is its own best
  const at::Tensor values = at::empty(size, x.options());
  const at::Tensor indexes = at::empty(size, x.options().dtype(at::kLong));
  TensorLauncher launcher(values, {indexes, rows});
  Check(op::MyTopk(Operand(rows, rows.sizes()), {size.back(), largest}, values.mutable_data_ptr(),
                   indexes.mutable_data_ptr(), launcher));
  if (x.dim() == 0) return {values.view(c10::IntArrayRef{}), indexes.view(c10::IntArrayRef{})};
  return {WithLastAtDim(values, dim), WithLastAtDim(indexes, dim)};
}

Pair Meta(const at::Tensor& x, int64_t k, int64_t dim, bool /*largest*/, bool /*sorted*/) {
  dim = CheckArguments(x, k, dim);
  const c10::SymDimVector size = SizeWith(x, dim, k);
  return {at::empty_symint(size, x.options()),
          at::empty_symint(size, x.options().dtype(at::kLong))};
}

// --- the way back: elements to their places, and from there --------------------------------------

int64_t CheckPlaces(const char* where, const char* name, const at::Tensor& x,
                    const at::Tensor& indexes, int64_t dim) {
  CheckFloat(where, name, x);
  TORCH_CHECK_TYPE(indexes.defined() && indexes.scalar_type() == at::kLong, where,
                   ": expected indices of dtype Long");
  TORCH_CHECK(indexes.device() == x.device(), where, ": expected indices on ", x.device(),
              " (the device of ", name, "), got ", indexes.device());
  CheckMemory(where, "indices", indexes);
  dim = FrontDim(where, x, dim);
  const c10::SymDimVector expected = SizeWith(x, dim, Extent(indexes, dim));
  TORCH_CHECK(indexes.dim() == x.dim() && indexes.sym_sizes() == c10::SymIntArrayRef(expected),
              where, ": expected indices of the size of ", name, " but in dimension ", dim,
              ", got ", indexes.sym_sizes());
  return dim;
}

int64_t CheckBackward(const at::Tensor& gradient, const at::Tensor& indexes,
                      const c10::SymInt& length, int64_t dim) {
  dim = CheckPlaces(kBackward, "gradient", gradient, indexes, dim);
  TORCH_CHECK(gradient.sym_sizes() == indexes.sym_sizes() && length >= Extent(indexes, dim),
              kBackward, ": expected gradient of the size of indices, got ", gradient.sym_sizes());
  return dim;
}

at::Tensor ComputeBackward(const at::Tensor& gradient, const at::Tensor& indexes, int64_t length,
                           int64_t dim) {
  dim = CheckBackward(gradient, indexes, length, dim);
  const at::Tensor from = WithDimLast(gradient, dim, true);
  const at::Tensor places = WithDimLast(indexes, dim, true);
  c10::DimVector size(from.sizes());
  size.back() = length;
  const at::Tensor z = at::empty(size, gradient.options());
  TensorLauncher launcher(z, {from, places});
  Check(op::MyTopkBackward(from.const_data_ptr(), places.const_data_ptr(), from.size(-1),
                           Operand(z, z.sizes()), launcher));
  return gradient.dim() == 0 ? z.view(c10::IntArrayRef{}) : WithLastAtDim(z, dim);
}

at::Tensor MetaBackward(const at::Tensor& gradient, const at::Tensor& indexes, c10::SymInt length,
                        int64_t dim) {
  dim = CheckBackward(gradient, indexes, length, dim);
  return at::empty_symint(SizeWith(gradient, dim, length), gradient.options());
}

at::Tensor ComputeGather(const at::Tensor& x, const at::Tensor& indexes, int64_t dim) {
  dim = CheckPlaces(kGather, "x", x, indexes, dim);
  const at::Tensor rows = WithDimLast(x, dim, true), places = WithDimLast(indexes, dim, true);
  const at::Tensor z = at::empty(places.sizes(), x.options());
  TensorLauncher launcher(z, {rows, places});
  Check(op::MyTopkBackwardGather(Operand(rows, rows.sizes()), places.const_data_ptr(),
                                 places.size(-1), z.mutable_data_ptr(), launcher));
  return x.dim() == 0 ? z.view(c10::IntArrayRef{}) : WithLastAtDim(z, dim);
}

at::Tensor MetaGather(const at::Tensor& x, const at::Tensor& indexes, int64_t dim) {
  CheckPlaces(kGather, "x", x, indexes, dim);
  return at::empty_symint(indexes.sym_sizes(), x.options());
}

at::Tensor Scatter(const at::Tensor& gradient, const at::Tensor& indexes, c10::SymInt length,
                   int64_t dim) {
  static const auto op = Operator<decltype(MetaBackward)>(kBackward);
  return op.call(gradient, indexes, length, dim);
}

at::Tensor AutogradGather(const at::Tensor& x, const at::Tensor& indexes, int64_t dim) {
  static const auto op = Operator<decltype(MetaGather)>(kGather);
  const at::Tensor z = CallBelowAutograd(op, x, indexes, dim);
  if (GradientWanted({x})) {
    RecordGradient("MyTopkGatherBackward", {x}, z, {indexes},
                   [dim, length = Extent(x, dim)](const BackwardCall& call) {
                     return TensorList{Scatter(call.gradient(), call.saved[0], length, dim)};
                   });
  }
  return z;
}

at::Tensor AutogradBackward(const at::Tensor& gradient, const at::Tensor& indexes,
                            c10::SymInt length, int64_t dim) {
  static const auto op = Operator<decltype(MetaBackward)>(kBackward);
  const at::Tensor z = CallBelowAutograd(op, gradient, indexes, length, dim);
  if (GradientWanted({gradient})) {
    RecordGradient("MyTopkBackwardBackward", {gradient}, z, {indexes},
                   [dim](const BackwardCall& call) {
                     static const auto gather = Operator<decltype(MetaGather)>(kGather);
                     return TensorList{gather.call(call.gradient(), call.saved[0], dim)};
                   });
  }
  return z;
}

Pair Autograd(const at::Tensor& x, int64_t k, int64_t dim, bool largest, bool sorted) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  auto [values, indexes] = CallBelowAutograd(op, x, k, dim, largest, sorted);
  if (GradientWanted({x})) {
    RecordGradient("MyTopkBackward", {x}, values, {indexes},
                   [dim, length = Extent(x, dim)](const BackwardCall& call) {
                     return TensorList{Scatter(call.gradient(), call.saved[0], length, dim)};
                   });
  }
  return {values, indexes};
}

void Define() {
  DefineOperator(
      "my_topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor "
      "values, Tensor indices)",
      Compute, Meta, Autograd, Autocast::kNone);
  DefineOperator(
      "my_topk_backward(Tensor gradient, Tensor indices, SymInt length, int dim) -> Tensor",
      ComputeBackward, MetaBackward, AutogradBackward, Autocast::kNone);
  DefineOperator("my_topk_backward_gather(Tensor x, Tensor indices, int dim) -> Tensor",
                 ComputeGather, MetaGather, AutogradGather, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension",
                                                              {kWhere, kBackward, kGather},
                                                              &Define);

}  // namespace
}  // namespace npu_host
