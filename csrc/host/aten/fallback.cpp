// SPDX-License-Identifier: Apache-2.0
#include <torch/library.h>

#include "aten/cpu_call.h"
#include "device/registration.h"

namespace npu_backend {
namespace {

void Fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { CallOnCpu(op, stack); }

void Define() {
  Implement("_", c10::DispatchKey::PrivateUse1)
      .fallback(torch::CppFunction::makeFromBoxedFunction<&Fallback>());

  // These have a formula for any device, but on CPU a kernel that rounds elsewhere or, for mode,
  // knows its devices by name.
  torch::Library& aten = Implement("aten", c10::DispatchKey::PrivateUse1);
  for (const char* name : {"addr", "addr.out", "native_group_norm", "mode.values"}) {
    aten.impl(name, torch::CppFunction::makeFromBoxedFunction<&Fallback>());
  }
}

const Registration registration NPU_REGISTRATION(kDeviceOwner, {}, &Define);

}  // namespace
}  // namespace npu_backend
