// SPDX-License-Identifier: Apache-2.0
#include "op/define.h"

#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>

#include <string>

#include "aten/autocast.h"

namespace npu_host {
namespace {

namespace functional = at::functionalization::impl;

/// Calls "name" instead of "name_" on what functional tensors wrap, and gives its result to the
/// first one.
void CallOutOfPlace(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const size_t count = op.schema().arguments().size();
  const at::Tensor self = torch::jit::peek(*stack, 0, count).toTensor();
  std::string name = op.operator_name().name;
  name.pop_back();
  const c10::OperatorHandle out_of_place = c10::Dispatcher::singleton().findSchemaOrThrow(
      name.c_str(), op.operator_name().overload_name.c_str());
  for (size_t i = 0; i < count; ++i) {
    c10::IValue& value = torch::jit::peek(*stack, i, count);
    if (!value.isTensor() || !functional::isFunctionalTensor(value.toTensor())) continue;
    functional::sync(value.toTensor());
    value = functional::from_functional_tensor(value.toTensor());
  }
  {
    const at::AutoDispatchSkipFunctionalize below;
    (functional::isFunctionalTensor(self) ? out_of_place : op).callBoxed(stack);
  }
  if (!functional::isFunctionalTensor(self)) return;
  const at::Tensor result = torch::jit::pop(*stack).toTensor();
  functional::replace_(self, result);
  functional::commit_update(self);
  functional::sync(self);
  torch::jit::push(*stack, self);
}

}  // namespace

void DefineAutocast(const char* name, Autocast policy) {
  using torch::CppFunction;
  torch::Library& library = npu_backend::Implement("npu", c10::DispatchKey::AutocastPrivateUse1);
  switch (policy) {
    case Autocast::kNone:
      return;
    case Autocast::kLower:
      library.impl(name, CppFunction::makeFromBoxedFunction<&npu_backend::AutocastToLower>());
      return;
    case Autocast::kFloat:
      library.impl(name, CppFunction::makeFromBoxedFunction<&npu_backend::AutocastToFloat>());
      return;
    case Autocast::kWidest:
      library.impl(name, CppFunction::makeFromBoxedFunction<&npu_backend::AutocastToWidest>());
      return;
  }
}

void DefineInPlace(const char* name) {
  npu_backend::Implement("npu", c10::DispatchKey::ADInplaceOrView)
      .impl(name, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  npu_backend::Implement("npu", c10::DispatchKey::Functionalize)
      .impl(name, torch::CppFunction::makeFromBoxedFunction<&CallOutOfPlace>());
}

}  // namespace npu_host
