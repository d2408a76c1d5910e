// SPDX-License-Identifier: Apache-2.0
// Calling operators of this library from its C++, through the dispatcher. Those named here are
// differentiable.
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <utility>

namespace npu_host {

/// Handle of the operator called name ("npu::my_add"), looked up once by the caller's static.
template <class Signature>
c10::TypedOperatorHandle<Signature> Operator(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

/// Calls op without recording how its result was computed.
template <class Handle, class... Arguments>
auto CallBelowAutograd(const Handle& op, Arguments&&... arguments) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return op.call(std::forward<Arguments>(arguments)...);
}

/// x summed to size, which x broadcasts from; x itself when it has that size. Differentiable.
at::Tensor SumTo(const at::Tensor& x, c10::SymIntArrayRef size);

at::Tensor MyMul(const at::Tensor& x, const at::Tensor& y);
at::Tensor FusedAddRelu(const at::Tensor& x, const at::Tensor& y);

/// The gradient of x from that of result = relu(x).
at::Tensor ReluBackward(const at::Tensor& gradient, const at::Tensor& result);

}  // namespace npu_host
