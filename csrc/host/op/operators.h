// SPDX-License-Identifier: Apache-2.0
// Calling operators of this library from its C++, through the dispatcher.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace npu_host {

/// Handle of the operator called name ("npu::my_add"), looked up once by the caller's static.
template <class Signature>
c10::TypedOperatorHandle<Signature> Operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// x summed to size, which x broadcasts from; x itself when it has that size. Differentiable.
at::Tensor SumTo(const at::Tensor& x, c10::SymIntArrayRef size);

}  // namespace npu_host
