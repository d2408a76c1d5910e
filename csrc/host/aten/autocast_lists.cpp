// SPDX-License-Identifier: Apache-2.0
#include <torch/library.h>

#include "aten/autocast.h"
#include "device/registration.h"

/// Which operator gets which policy. Source: PyTorch's lists for CUDA (ATen/autocast_mode.h), and
/// the two operators that PyTorch's modules do without where CUDA autocasts, but not on other
/// devices.
namespace npu_backend {
namespace {

/// Matrix products and convolutions.
constexpr const char* kToLower[] = {"_convolution.deprecated",
                                    "_convolution",
                                    "conv1d",
                                    "conv2d",
                                    "conv3d",
                                    "conv_tbc",
                                    "conv_transpose1d",
                                    "conv_transpose2d.input",
                                    "conv_transpose3d.input",
                                    "convolution",
                                    "prelu",
                                    "addmm",
                                    "addmv",
                                    "addr",
                                    "matmul",
                                    "einsum",
                                    "mm",
                                    "mv",
                                    "linalg_vecdot",
                                    "linear",
                                    "addbmm",
                                    "baddbmm",
                                    "bmm",
                                    "chain_matmul",
                                    "linalg_multi_dot",
                                    "_thnn_fused_lstm_cell",
                                    "_thnn_fused_gru_cell",
                                    "lstm_cell",
                                    "gru_cell",
                                    "rnn_tanh_cell",
                                    "rnn_relu_cell",
                                    "_scaled_dot_product_flash_attention",
                                    "scaled_dot_product_attention",
                                    "_native_multi_head_attention",
                                    "_transformer_encoder_layer_fwd"};

/// Functions that lose too much in half precision.
constexpr const char* kToFloat[] = {"acos",
                                    "asin",
                                    "cosh",
                                    "erfinv",
                                    "exp",
                                    "expm1",
                                    "log",
                                    "log10",
                                    "log2",
                                    "log1p",
                                    "reciprocal",
                                    "rsqrt",
                                    "sinh",
                                    "tan",
                                    "pow.Tensor_Scalar",
                                    "pow.Tensor_Tensor",
                                    "pow.Scalar",
                                    "softplus",
                                    "layer_norm",
                                    "native_layer_norm",
                                    "rms_norm",
                                    "group_norm",
                                    "frobenius_norm.dim",
                                    "nuclear_norm",
                                    "nuclear_norm.dim",
                                    "cosine_similarity",
                                    "poisson_nll_loss",
                                    "cosine_embedding_loss",
                                    "nll_loss",
                                    "nll_loss2d",
                                    "hinge_embedding_loss",
                                    "kl_div",
                                    "l1_loss",
                                    "smooth_l1_loss",
                                    "huber_loss",
                                    "mse_loss",
                                    "margin_ranking_loss",
                                    "multilabel_margin_loss",
                                    "soft_margin_loss",
                                    "triplet_margin_loss",
                                    "multi_margin_loss",
                                    "binary_cross_entropy_with_logits",
                                    "dist",
                                    "pdist",
                                    "cdist",
                                    "renorm",
                                    "logsumexp",
                                    "upsample_nearest1d",
                                    "_upsample_nearest_exact1d",
                                    "upsample_nearest2d",
                                    "_upsample_nearest_exact2d",
                                    "upsample_nearest3d",
                                    "_upsample_nearest_exact3d",
                                    "upsample_linear1d",
                                    "upsample_bilinear2d",
                                    "_upsample_bilinear2d_aa",
                                    "upsample_trilinear3d",
                                    "upsample_bicubic2d",
                                    "_upsample_bicubic2d_aa"};

/// Sums and products that may overflow, and take a dtype.
constexpr const char* kResultToFloat[] = {"prod",
                                          "prod.dim_int",
                                          "softmax.int",
                                          "log_softmax.int",
                                          "cumprod",
                                          "cumsum",
                                          "linalg_vector_norm",
                                          "linalg_matrix_norm",
                                          "linalg_matrix_norm.str_ord",
                                          "sum",
                                          "sum.dim_IntList"};

/// Operators whose floating arguments must agree.
constexpr const char* kToWidest[] = {"addcdiv",   "addcmul",   "atan2",      "bilinear",
                                     "cross",     "dot",       "vdot",       "grid_sampler",
                                     "index_put", "tensordot", "scatter_add"};

using Policy = void (*)(const c10::OperatorHandle&, torch::jit::Stack*);

template <Policy kPolicy, size_t kCount>
void Apply(torch::Library& aten, const char* const (&names)[kCount]) {
  for (const char* name : names) {
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<kPolicy>());
  }
}

void Define() {
  Implement("_", c10::DispatchKey::AutocastPrivateUse1)
      .fallback(torch::CppFunction::makeFallthrough());
  torch::Library& aten = Implement("aten", c10::DispatchKey::AutocastPrivateUse1);
  Apply<&AutocastToLower>(aten, kToLower);
  Apply<&AutocastToFloat>(aten, kToFloat);
  Apply<&AutocastToWidest>(aten, kToWidest);
  Apply<&AutocastResultToFloat>(aten, kResultToFloat);
  for (const char* name : {"norm.Scalar", "norm.ScalarOpt_dim"}) {
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&AutocastToFloat>());
  }
  aten.impl("binary_cross_entropy", torch::CppFunction::makeFromBoxedFunction<&AutocastBanned>());
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
