// SPDX-License-Identifier: Apache-2.0
#include <ATen/ExpandUtils.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sdp_choice_ops.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/scaled_dot_product_attention_native.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "device/registration.h"

/// The fused attention of PyTorch's CPU.
namespace npu_backend {
namespace {

using at::SDPBackend;
using at::Tensor;

int64_t Choose(const Tensor& query, const Tensor& key, const Tensor& value,
               const std::optional<Tensor>& mask, double dropout, bool is_causal,
               std::optional<double> scale, bool grouped) {
  constexpr auto kMath = static_cast<int64_t>(SDPBackend::math);
  // The fused kernel gives the mask no gradient, and repeats no heads.
  const bool wants_mask_gradient =
      mask && mask->defined() && mask->requires_grad() && at::GradMode::is_enabled();
  if (wants_mask_gradient || grouped) return kMath;
  // The CPU's answer depends on shapes, strides and dtypes.
  const int64_t choice =
      at::_ops::_fused_sdp_choice::redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), query,
                                              key, value, mask, dropout, is_causal, scale, grouped);
  return choice == static_cast<int64_t>(SDPBackend::flash_attention)
             ? static_cast<int64_t>(SDPBackend::overrideable)
             : kMath;
}

bool AreAlike(const Tensor& tensor, const Tensor& other) {
  return tensor.device() == other.device() && tensor.scalar_type() == other.scalar_type();
}

/// 0 where mask is true, -inf where it is false.
Tensor Additive(const Tensor& mask, c10::ScalarType dtype) {
  if (mask.scalar_type() != c10::ScalarType::Bool) return mask;
  return at::zeros_like(mask, dtype)
      .masked_fill_(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

/// Calls the fused kernel under its own name, so that what PyTorch knows of it for autograd, vmap
/// and tracing serves here, too. PyTorch's own function takes the formula on a private device.
Tensor ScaledDotProduct(const Tensor& query, const Tensor& key, const Tensor& value,
                        const std::optional<Tensor>& mask, double dropout, bool is_causal,
                        std::optional<double> scale, bool grouped) {
  const bool has_mask = mask && mask->defined();
  if (AreAlike(query, key) && AreAlike(query, value) && !(has_mask && is_causal)) {
    const std::optional<Tensor> bias =
        has_mask ? std::optional(Additive(*mask, query.scalar_type())) : std::nullopt;
    const bool fits = !bias || AreAlike(query, *bias);
    if (fits && Choose(query, key, value, bias, dropout, is_causal, scale, grouped) !=
                    static_cast<int64_t>(SDPBackend::math)) {
      return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout,
                                                                         is_causal, bias, scale));
    }
  }
  return at::native::scaled_dot_product_attention(query, key, value, mask, dropout, is_causal,
                                                  scale, grouped);
}

using Forward =
    std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

/// For callers of the operators by which private devices offer a fused kernel. What belongs to
/// sequences of several lengths and to dropout stays undefined.
Forward Attention(const Tensor& query, const Tensor& key, const Tensor& value,
                  const std::optional<Tensor>& bias, double dropout, bool is_causal, bool,
                  std::optional<double> scale) {
  auto [output, sums] = at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout,
                                                                        is_causal, bias, scale);
  return {output, sums, {}, {}, query.sym_size(2), key.sym_size(2), {}, {}, {}};
}

/// The gradient of attn_bias: p * (gradient v^T - sum over a row of gradient * output), summed over
/// what was broadcast, p the softmax of the scores. sums: logarithms of its denominators.
Tensor BiasGradient(const Tensor& gradient, const Tensor& query, const Tensor& key,
                    const Tensor& value, const Tensor& bias, const Tensor& output,
                    const Tensor& sums, std::optional<double> scale) {
  const auto wide = [&](const Tensor& tensor) { return tensor.to(sums.scalar_type()); };
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const Tensor scores = wide(query).matmul(wide(key).transpose(-2, -1)).mul_(factor);
  const Tensor probability = scores.add_(wide(bias)).sub_(sums.unsqueeze(-1)).exp_();
  const Tensor of_rows = wide(gradient).mul(wide(output)).sum(-1, /*keepdim=*/true);
  Tensor of_scores = wide(gradient).matmul(wide(value).transpose(-2, -1)).sub_(of_rows);
  return at::sum_to(of_scores.mul_(probability), bias.sizes()).to(bias.scalar_type());
}

// NOLINTBEGIN(performance-unnecessary-value-param): the signature is torch's
std::tuple<Tensor, Tensor, Tensor, Tensor> AttentionBackward(
    const Tensor& gradient, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& bias, std::array<bool, 4> wanted, const Tensor& output, const Tensor& sums,
    const Tensor&, const Tensor&, c10::SymInt, c10::SymInt, double dropout, bool is_causal,
    const Tensor&, const Tensor&, std::optional<double> scale) {
  // NOLINTEND(performance-unnecessary-value-param)
  const bool wants_bias = wanted[3] && bias.defined();
  TORCH_CHECK_NOT_IMPLEMENTED(!wants_bias || (dropout == 0 && !is_causal),
                              "npu attention: expected no dropout and is_causal=False where "
                              "attn_bias wants a gradient, got dropout_p=",
                              dropout, ", is_causal=", is_causal);
  const std::optional<Tensor> mask = bias.defined() ? std::optional(bias) : std::nullopt;
  auto [query_gradient, key_gradient, value_gradient] =
      at::_scaled_dot_product_flash_attention_for_cpu_backward(
          gradient, query, key, value, output, sums, dropout, is_causal, mask, scale);
  Tensor bias_gradient;
  if (wants_bias) {
    bias_gradient = BiasGradient(gradient, query, key, value, bias, output, sums, scale);
  }
  return {query_gradient, key_gradient, value_gradient, bias_gradient};
}

void Define() {
  for (const auto key : {c10::DispatchKey::PrivateUse1, c10::DispatchKey::AutogradPrivateUse1}) {
    Implement("aten", key).impl("scaled_dot_product_attention", &ScaledDotProduct);
  }
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("_fused_sdp_choice", &Choose);
  aten.impl("_scaled_dot_product_fused_attention_overrideable", &Attention);
  aten.impl("_scaled_dot_product_fused_attention_overrideable_backward", &AttentionBackward);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
