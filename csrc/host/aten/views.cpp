// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "device/registration.h"

namespace npu_backend {
namespace {

/// Views touch no memory: PyTorch's own functions serve any device. Registered for speed.
void Define() {
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  aten.impl("as_strided", &at::native::as_strided_tensorimpl);
  aten.impl("view", &at::native::view);
  aten.impl("_reshape_alias", &at::native::_reshape_alias);
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
