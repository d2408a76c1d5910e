// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

#include "aten/gates.h"
#include "device/registration.h"

/// GRU cells of a private device come as one operator each, which CPU does not have. Gates: reset,
/// update, new.
namespace npu_backend {
namespace {

/// The workspace keeps reset, update, new, the old state, and what reset multiplies.
std::tuple<at::Tensor, at::Tensor> GruCell(const at::Tensor& input_gates,
                                           const at::Tensor& hidden_gates, const at::Tensor& hx,
                                           const OptionalTensor& input_bias,
                                           const OptionalTensor& hidden_bias) {
  const std::vector<at::Tensor> input = WithBias(input_gates, input_bias).chunk(3, 1);
  const std::vector<at::Tensor> hidden = WithBias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = (hidden[0] + input[0]).sigmoid();
  const at::Tensor update = (hidden[1] + input[1]).sigmoid();
  const at::Tensor fresh = (input[2] + hidden[2] * reset).tanh();
  at::Tensor hy = (hx - fresh) * update + fresh;
  return {std::move(hy), at::cat({reset, update, fresh, hx, hidden[2]}, 1)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> GruCellBackward(
    const at::Tensor& grad_hy, const at::Tensor& workspace, bool has_bias) {
  const std::vector<at::Tensor> saved = workspace.chunk(5, 1);
  const at::Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2];
  const at::Tensor &hx = saved[3], &scaled = saved[4];
  const at::Tensor grad_fresh = grad_hy * (1 - update) * TanhSlope(fresh);
  const at::Tensor grad_update = grad_hy * (hx - fresh) * SigmoidSlope(update);
  const at::Tensor grad_reset = grad_fresh * scaled * SigmoidSlope(reset);
  at::Tensor grad_input = at::cat({grad_reset, grad_update, grad_fresh}, 1);
  at::Tensor grad_hidden = at::cat({grad_reset, grad_update, grad_fresh * reset}, 1);
  at::Tensor grad_input_bias, grad_hidden_bias;
  if (has_bias) {
    grad_input_bias = grad_input.sum(c10::IntArrayRef{0});
    grad_hidden_bias = grad_hidden.sum(c10::IntArrayRef{0});
  }
  return {std::move(grad_input), std::move(grad_hidden), grad_hy * update,
          std::move(grad_input_bias), std::move(grad_hidden_bias)};
}

void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("_thnn_fused_gru_cell", &GruCell);
  aten.impl("_thnn_fused_gru_cell_backward", &GruCellBackward);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
