// SPDX-License-Identifier: Apache-2.0
// Attention, and its way back: once, not twice.
#include "op/my_flash_attention.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "op/autograd.h"
#include "op/define.h"
#include "op/factors.h"
#include "op/last_dim.h"
#include "op/memory.h"
#include "op/operand.h"
#include "op/operators.h"

namespace npu_host {
namespace {

constexpr const char* kWhere = "npu::my_flash_attention";
constexpr const char* kBackward = "npu::my_flash_attention_backward";

using Pair = std::tuple<at::Tensor, at::Tensor>;
using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

/// Raises unless x is (batch, heads, rows, width) of a dtype that the cube core multiplies.
void CheckMatrices(const char* where, const Factor& x) {
  CheckFactor(where, x, 4, "(batch, heads, rows, width)");
  TORCH_CHECK_TYPE(x.tensor.scalar_type() != at::kDouble, where, ": expected ", x.name,
                   " of dtype Float, Half or BFloat16, got Double");
}

void CheckSize(const char* where, const Factor& x, c10::SymIntArrayRef size, const char* what) {
  TORCH_CHECK(x.tensor.sym_sizes() == size, where, ": expected ", x.name, " of size ", size, " (",
              what, "), got ", x.tensor.sym_sizes());
}

void CheckInputs(const char* where, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  CheckMatrices(where, {"query", q});
  for (const Factor& x : {Factor{"key", k}, Factor{"value", v}}) {
    CheckMatrices(where, x);
    CheckSameKindAs(where, {"query", q}, x);
  }
  CheckSize(where, {"key", k}, {q.sym_size(0), q.sym_size(1), k.sym_size(2), q.sym_size(3)},
            "as query, any rows");
  CheckSize(where, {"value", v}, k.sym_sizes(), "as key");
  TORCH_CHECK(q.sym_size(3) >= 1 && q.sym_size(3) <= kAttentionWidth, where,
              ": expected query of 1 to ", kAttentionWidth, " elements in a row, got ",
              q.sym_size(3));
}

op::AttentionRule RuleOf(const at::Tensor& q, bool causal, std::optional<double> scale) {
  return {causal,
          static_cast<float>(scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3)))))};
}

/// x, or a copy of it if kernels cannot take it as it lies.
at::Tensor AsMatrices(const at::Tensor& x) {
  return op::IsAttentionOperand(Operand(x, x.sizes())) ? x : ContiguousCopy(x);
}

Pair Compute(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, bool causal,
             std::optional<double> scale) {  // PrivateUse1 and CPU
  CheckInputs(kWhere, query, key, value);
  const at::Tensor q = AsMatrices(query), k = AsMatrices(key), v = AsMatrices(value);
  const Operand q_operand(q, q.sizes()), k_operand(k, k.sizes()), v_operand(v, v.sizes());
  const op::AttentionInputs inputs = {q_operand, k_operand, v_operand};
  const at::Tensor z = at::empty(q.sizes(), q.options());
  const at::Tensor log_sums =
      at::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(at::kFloat));
  const at::Tensor slots = at::empty({op::AttentionBytes(inputs)}, q.options().dtype(at::kByte));
  TensorLauncher launcher(z, {q, k, v, log_sums, slots});
  Check(op::MyFlashAttention(inputs, RuleOf(q, causal, scale), z.mutable_data_ptr(),
                             log_sums.mutable_data_ptr(), slots.mutable_data_ptr(), launcher));
  return {z, log_sums};
}

Pair Meta(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool /*causal*/,
          std::optional<double> /*scale*/) {
  CheckInputs(kWhere, q, k, v);
  return {at::empty_symint(q.sym_sizes(), q.options()),
          at::empty_symint({q.sym_size(0), q.sym_size(1), q.sym_size(2)},
                           q.options().dtype(at::kFloat))};
}

// --- the way back --------------------------------------------------------------------------------

void CheckBackward(const at::Tensor& gradient, const at::Tensor& q, const at::Tensor& k,
                   const at::Tensor& v, const at::Tensor& result, const at::Tensor& log_sums) {
  CheckInputs(kBackward, q, k, v);
  for (const Factor& x : {Factor{"gradient", gradient}, Factor{"output", result}}) {
    CheckMatrices(kBackward, x);
    CheckSameKindAs(kBackward, {"query", q}, x);
    CheckSize(kBackward, x, q.sym_sizes(), "that of query");
  }
  CheckOperand(kBackward, "logsumexp", log_sums);
  TORCH_CHECK(log_sums.scalar_type() == at::kFloat && log_sums.device() == q.device(), kBackward,
              ": expected logsumexp of dtype Float on ", q.device(), ", got ",
              log_sums.scalar_type(), " on ", log_sums.device());
  CheckSize(kBackward, {"logsumexp", log_sums}, q.sym_sizes().slice(0, 3), "a number for each row");
}

Triple ComputeBackward(const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
                       const at::Tensor& value, const at::Tensor& output,
                       const at::Tensor& logsumexp, bool causal, std::optional<double> scale) {
  CheckBackward(gradient, query, key, value, output, logsumexp);
  const at::Tensor q = AsMatrices(query), k = AsMatrices(key), v = AsMatrices(value),
                   result = AsMatrices(output), incoming = AsMatrices(gradient);
  const at::Tensor log_sums = logsumexp.is_contiguous() ? logsumexp : ContiguousCopy(logsumexp);
  const Operand q_operand(q, q.sizes()), k_operand(k, k.sizes()), v_operand(v, v.sizes());
  const op::AttentionInputs inputs = {q_operand, k_operand, v_operand};
  const at::Tensor dq = at::empty(q.sizes(), q.options()), dk = at::empty(k.sizes(), k.options()),
                   dv = at::empty(v.sizes(), v.options());
  const at::Tensor deltas = at::empty(log_sums.sizes(), log_sums.options());
  const at::Tensor slots =
      at::empty({op::AttentionBackwardBytes(inputs)}, q.options().dtype(at::kByte));
  TensorLauncher launcher(dq, {dk, dv, q, k, v, result, incoming, log_sums, deltas, slots});
  const Operand result_operand(result, result.sizes()), incoming_operand(incoming, q.sizes());
  const op::AttentionGradients gradients = {
      result_operand,           incoming_operand,      log_sums.const_data_ptr(),
      dq.mutable_data_ptr(),    dk.mutable_data_ptr(), dv.mutable_data_ptr(),
      deltas.mutable_data_ptr()};
  Check(op::MyFlashAttentionBackward(inputs, RuleOf(q, causal, scale), gradients,
                                     slots.mutable_data_ptr(), launcher));
  return {dq, dk, dv};
}

Triple MetaBackward(const at::Tensor& gradient, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v, const at::Tensor& output, const at::Tensor& logsumexp,
                    bool /*causal*/, std::optional<double> /*scale*/) {
  CheckBackward(gradient, q, k, v, output, logsumexp);
  return {at::empty_symint(q.sym_sizes(), q.options()),
          at::empty_symint(k.sym_sizes(), k.options()),
          at::empty_symint(v.sym_sizes(), v.options())};
}

Triple AutogradBackward(const at::Tensor& gradient, const at::Tensor& q, const at::Tensor& k,
                        const at::Tensor& v, const at::Tensor& output, const at::Tensor& logsumexp,
                        bool causal, std::optional<double> scale) {
  static const auto op = Operator<decltype(ComputeBackward)>(kBackward);
  auto [dq, dk, dv] = CallBelowAutograd(op, gradient, q, k, v, output, logsumexp, causal, scale);
  if (GradientWanted({gradient, q, k, v, output, logsumexp})) {
    RecordGradient("MyFlashAttentionBackwardBackward", {gradient, q, k, v, output, logsumexp},
                   {dq, dk, dv}, {}, [](const BackwardCall&) -> TensorList {
                     TORCH_CHECK_NOT_IMPLEMENTED(
                         false, kBackward,
                         ": expected a first derivative, got a second one, which is not computed");
                   });
  }
  return {dq, dk, dv};
}

Pair Autograd(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool causal,
              std::optional<double> scale) {
  static const auto op = Operator<decltype(Compute)>(kWhere);
  auto [z, log_sums] = CallBelowAutograd(op, q, k, v, causal, scale);
  if (GradientWanted({q, k, v})) {
    RecordGradient("MyFlashAttentionBackward", {q, k, v}, z, {q, k, v, z, log_sums},
                   [causal, scale](const BackwardCall& call) {
                     static const auto backward = Operator<decltype(ComputeBackward)>(kBackward);
                     auto [dq, dk, dv] =
                         backward.call(call.gradient(), call.saved[0], call.saved[1], call.saved[2],
                                       call.saved[3], call.saved[4], causal, scale);
                     return TensorList{dq, dk, dv};
                   });
  }
  return {z, log_sums};
}

void Define() {
  DefineOperator(
      "my_flash_attention(Tensor query, Tensor key, Tensor value, bool is_causal=False, float? "
      "scale=None) -> (Tensor output, Tensor logsumexp)",
      Compute, Meta, Autograd, Autocast::kLower);
  DefineOperator(
      "my_flash_attention_backward(Tensor gradient, Tensor query, Tensor key, Tensor value, Tensor "
      "output, Tensor logsumexp, bool is_causal, float? scale) -> (Tensor, Tensor, Tensor)",
      ComputeBackward, MetaBackward, AutogradBackward, Autocast::kNone);
}

const npu_backend::Registration registration NPU_REGISTRATION("op_extension", {kWhere, kBackward},
                                                              &Define);

}  // namespace
}  // namespace npu_host
