// SPDX-License-Identifier: Apache-2.0
#include "aten/direct.h"

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/cpu_call.h"
#include "aten/unsigned.h"
#include "device/fallback_log.h"
#include "device/strict_dtypes.h"

namespace npu_backend {
namespace {

/// Operators of one signature, by name and overload.
struct Name {
  std::string_view name;
  std::string_view overload;
};

constexpr Name kUnary[] = {{"aten::relu", ""}, {"aten::sigmoid", ""}, {"aten::tanh", ""},
                           {"aten::exp", ""},  {"aten::sqrt", ""},    {"aten::rsqrt", ""},
                           {"aten::neg", ""},  {"aten::abs", ""}};
constexpr Name kBinary[] = {{"aten::mul", "Tensor"}, {"aten::div", "Tensor"},
                            {"aten::mm", ""},        {"aten::bmm", ""},
                            {"aten::maximum", ""},   {"aten::minimum", ""}};
constexpr Name kScaled[] = {{"aten::add", "Tensor"}, {"aten::sub", "Tensor"}};

template <class T>
decltype(auto) Enter(CpuCall& call, const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return call.EnterTensor(argument, /*is_mutable=*/false);
  } else {
    return argument;
  }
}

template <class T>
bool NeedsBoxes(const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return argument.defined() && c10::isBarebonesUnsignedType(argument.scalar_type());
  } else {
    return false;
  }
}

/// Operator number kIndex of kNames, which takes Args.
template <const auto& kNames, size_t kIndex, class... Args>
at::Tensor Call(const Args&... arguments) {
  static const auto op =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow(kNames[kIndex].name.data(), kNames[kIndex].overload.data())
          .template typed<at::Tensor(const Args&...)>();
  static const Plan plan(op);
  if (C10_UNLIKELY(StrictDtypes() || (NeedsBoxes(arguments) || ...))) {
    torch::jit::Stack stack;
    torch::jit::push(stack, arguments...);
    IsModular(plan.name) ? Modular(op, &stack) : CallOnCpu(op, &stack);
    return torch::jit::pop(stack).toTensor();
  }
  LogFallback(plan.name);
  CpuCall call(plan);
  const std::tuple<Args...> entered{Enter(call, arguments)...};
  call.EndEntering();
  return call.LeaveTensor(call.Run([&] {
    return std::apply(
        [](const Args&... inner) {
          return op.redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), inner...);
        },
        entered);
  }));
}

template <const auto& kNames, class... Args, size_t... kIndex>
std::optional<torch::CppFunction> Find(const c10::OperatorName& op,
                                       std::index_sequence<kIndex...>) {
  std::optional<torch::CppFunction> found;
  const auto try_one = [&](const Name& name, at::Tensor (*function)(const Args&...)) {
    if (op.name == name.name && op.overload_name == name.overload) found.emplace(function);
  };
  (try_one(kNames[kIndex], &Call<kNames, kIndex, Args...>), ...);
  return found;
}

template <const auto& kNames, class... Args>
std::optional<torch::CppFunction> FindIn(const c10::OperatorName& op) {
  return Find<kNames, Args...>(op, std::make_index_sequence<std::size(kNames)>{});
}

}  // namespace

std::optional<torch::CppFunction> DirectFor(const c10::OperatorName& op) {
  if (auto function = FindIn<kUnary, at::Tensor>(op)) return function;
  if (auto function = FindIn<kBinary, at::Tensor, at::Tensor>(op)) return function;
  return FindIn<kScaled, at::Tensor, at::Tensor, at::Scalar>(op);
}

}  // namespace npu_backend
