// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "device/registration.h"

namespace npu_backend {
namespace {

/// The formula of PyTorch's dropout on CPU. It draws from the generator of the device, which the
/// CPU kernel of native_dropout would not.
std::tuple<at::Tensor, at::Tensor> NativeDropout(const at::Tensor& input, double p,
                                                 std::optional<bool> train) {
  if (!train.value_or(true) || p == 0 || input.numel() == 0) {
    return {input.clone(), at::ones_like(input, c10::ScalarType::Bool)};
  }
  if (p == 1) {
    return {at::zeros_like(input), at::zeros_like(input, c10::ScalarType::Bool)};
  }
  at::Tensor noise = at::empty_like(input).bernoulli_(1 - p);
  at::Tensor mask = at::ne(noise, 0);
  noise.div_(1 - p);
  return {at::mul(input, noise), std::move(mask)};
}

void Define() {
  Implement("aten", c10::DispatchKey::PrivateUse1).impl("native_dropout", &NativeDropout);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
