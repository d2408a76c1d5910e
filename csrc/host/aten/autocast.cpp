// SPDX-License-Identifier: Apache-2.0
#include "aten/autocast.h"

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <optional>

#include "device/registration.h"

// Declared here because ATen/autocast_mode.h takes half a minute to compile.
namespace at::autocast {
TORCH_API at::ScalarType get_autocast_dtype(at::DeviceType device_type);
TORCH_API Tensor cached_cast(at::ScalarType to_type, const Tensor& arg, DeviceType device_type);
}  // namespace at::autocast

namespace npu_backend {
namespace {

using torch::jit::Stack;
constexpr c10::DeviceType kNpu = c10::DeviceType::PrivateUse1;

at::Tensor Cast(c10::ScalarType dtype, const at::Tensor& tensor) {
  return at::autocast::cached_cast(dtype, tensor, kNpu);
}

/// Calls function(tensor) for each tensor of value and puts the result in its place.
template <class Function>
void Transform(c10::IValue& value, Function function) {
  if (value.isTensor()) {
    value = function(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(function(tensor));
    value = std::move(list);
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor ? std::optional(function(*tensor)) : std::nullopt);
    }
    value = std::move(list);
  }
}

bool IsEligible(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_privateuseone() && tensor.is_floating_point() &&
         tensor.scalar_type() != c10::ScalarType::Double;
}

struct Arguments {
  Arguments(const c10::OperatorHandle& op, Stack* stack)
      : begin(&*stack->end() - op.schema().arguments().size()), end(&*stack->end()) {}

  template <class Function>
  void Each(Function function) {
    for (c10::IValue* value = begin; value != end; ++value) Transform(*value, function);
  }

  c10::IValue* begin;
  c10::IValue* end;
};

void CallBelow(const c10::OperatorHandle& op, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastPrivateUse1);
  op.callBoxed(stack);
}

/// The widest floating dtype among eligible tensors; low when none is wider.
c10::ScalarType WidestDtype(Arguments arguments, c10::ScalarType low) {
  c10::ScalarType widest = low;
  arguments.Each([&](const at::Tensor& tensor) {
    if (IsEligible(tensor) && tensor.scalar_type() == c10::ScalarType::Float) {
      widest = c10::ScalarType::Float;
    }
    return tensor;
  });
  return widest;
}

}  // namespace

void AutocastToLower(const c10::OperatorHandle& op, Stack* stack) {
  const c10::ScalarType dtype = at::autocast::get_autocast_dtype(kNpu);
  Arguments(op, stack).Each([&](const at::Tensor& tensor) { return Cast(dtype, tensor); });
  CallBelow(op, stack);
}

void AutocastToFloat(const c10::OperatorHandle& op, Stack* stack) {
  Arguments(op, stack).Each(
      [&](const at::Tensor& tensor) { return Cast(c10::ScalarType::Float, tensor); });
  CallBelow(op, stack);
}

void AutocastToWidest(const c10::OperatorHandle& op, Stack* stack) {
  const c10::ScalarType low = at::autocast::get_autocast_dtype(kNpu);
  const c10::ScalarType dtype = WidestDtype(Arguments(op, stack), low);
  Arguments(op, stack).Each([&](const at::Tensor& tensor) { return Cast(dtype, tensor); });
  CallBelow(op, stack);
}

void AutocastResultToFloat(const c10::OperatorHandle& op, Stack* stack) {
  const Arguments arguments(op, stack);
  const auto& declared = op.schema().arguments();
  const bool eligible = arguments.begin->isTensor() && IsEligible(arguments.begin->toTensor());
  for (size_t i = 0; eligible && i < declared.size(); ++i) {
    if (declared[i].name() == "dtype" && arguments.begin[i].isNone()) {
      arguments.begin[i] = static_cast<int64_t>(c10::ScalarType::Float);
    }
  }
  CallBelow(op, stack);
}

void AutocastBanned(const c10::OperatorHandle&, Stack*) {
  TORCH_CHECK(false,
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
              "autocast; combine the sigmoid and the loss: "
              "torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss");
}

}  // namespace npu_backend
