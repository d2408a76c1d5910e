// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

#include "aten/gates.h"
#include "device/registration.h"

/// LSTM cells of a private device come as one operator each, which CPU does not have. Gates: input,
/// forget, cell, out.
namespace npu_backend {
namespace {

using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

Three LstmCell(const at::Tensor& input_gates, const at::Tensor& hidden_gates, const at::Tensor& cx,
               const OptionalTensor& input_bias, const OptionalTensor& hidden_bias) {
  const at::Tensor gates = WithBias(WithBias(input_gates + hidden_gates, input_bias), hidden_bias);
  const std::vector<at::Tensor> gate = gates.chunk(4, 1);
  const at::Tensor in = gate[0].sigmoid();
  const at::Tensor forget = gate[1].sigmoid();
  const at::Tensor cell = gate[2].tanh();
  const at::Tensor out = gate[3].sigmoid();
  at::Tensor cy = forget * cx + in * cell;
  at::Tensor hy = out * cy.tanh();
  return {std::move(hy), std::move(cy), at::cat({in, forget, cell, out}, 1)};
}

at::Tensor OrZeros(const OptionalTensor& gradient, const at::Tensor& like) {
  const at::Tensor given = ValueOf(gradient);
  return given.defined() ? given : at::zeros_like(like);
}

Three LstmCellBackward(const OptionalTensor& grad_hy, const OptionalTensor& grad_cy,
                       const at::Tensor& cx, const at::Tensor& cy, const at::Tensor& workspace,
                       bool has_bias) {
  if (!ValueOf(grad_hy).defined() && !ValueOf(grad_cy).defined()) return {};
  const std::vector<at::Tensor> gate = workspace.chunk(4, 1);
  const at::Tensor &in = gate[0], &forget = gate[1], &cell = gate[2], &out = gate[3];
  const at::Tensor from_hy = OrZeros(grad_hy, cy);
  const at::Tensor tanh_cy = cy.tanh();
  const at::Tensor grad_cell_state = from_hy * out * TanhSlope(tanh_cy) + OrZeros(grad_cy, cy);
  at::Tensor grad_gates = at::cat(
      {grad_cell_state * cell * SigmoidSlope(in), grad_cell_state * cx * SigmoidSlope(forget),
       grad_cell_state * in * TanhSlope(cell), from_hy * tanh_cy * SigmoidSlope(out)},
      1);
  at::Tensor grad_bias = has_bias ? grad_gates.sum(c10::IntArrayRef{0}) : at::Tensor();
  return {std::move(grad_gates), grad_cell_state * forget, std::move(grad_bias)};
}

void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("_thnn_fused_lstm_cell", &LstmCell);
  aten.impl("_thnn_fused_lstm_cell_backward_impl", &LstmCellBackward);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
