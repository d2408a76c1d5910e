// SPDX-License-Identifier: Apache-2.0
#include "aten/direct.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/add_native.h>
#include <ATen/ops/div_native.h>
#include <ATen/ops/exp_native.h>
#include <ATen/ops/maximum_native.h>
#include <ATen/ops/minimum_native.h>
#include <ATen/ops/mul_native.h>
#include <ATen/ops/neg_native.h>
#include <ATen/ops/rsqrt_native.h>
#include <ATen/ops/sigmoid_native.h>
#include <ATen/ops/sqrt_native.h>
#include <ATen/ops/sub_native.h>
#include <ATen/ops/tanh_native.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/cpu_call.h"
#include "aten/unsigned.h"
#include "device/device.h"
#include "device/fallback_log.h"
#include "device/strict_dtypes.h"
#include "device/twin.h"

namespace npu_backend {
namespace {

/// Text as a template argument.
struct Text {
  char text[24] = {};
  template <size_t kSize>
  constexpr Text(const char (&from)[kSize]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(from, kSize, text);
  }
};

/// In the place of a kernel: a product of matrices.
struct Product;

/// An operator, and its structured CPU kernel if that works element by element.
template <Text name, Text overload, class StructuredKernel = void>
struct Operator {
  static constexpr bool kIsProduct = std::is_same_v<StructuredKernel, Product>;
  using Structured = std::conditional_t<kIsProduct, void, StructuredKernel>;
  static constexpr const char* kName = name.text;
  static constexpr const char* kOverload = overload.text;
};

/// Operators of one signature.
template <class... Ops>
struct Operators {};

using Unary = Operators<Operator<"aten::relu", "">, Operator<"aten::abs", "">,
                        Operator<"aten::sigmoid", "", at::native::structured_sigmoid_out>,
                        Operator<"aten::tanh", "", at::native::structured_tanh_out>,
                        Operator<"aten::exp", "", at::native::structured_exp_out>,
                        Operator<"aten::sqrt", "", at::native::structured_sqrt_out>,
                        Operator<"aten::rsqrt", "", at::native::structured_rsqrt_out>,
                        Operator<"aten::neg", "", at::native::structured_neg_out>>;
using Binary = Operators<Operator<"aten::mm", "", Product>, Operator<"aten::bmm", "", Product>,
                         Operator<"aten::mul", "Tensor", at::native::structured_mul_out>,
                         Operator<"aten::div", "Tensor", at::native::structured_div_out>,
                         Operator<"aten::maximum", "", at::native::structured_maximum_out>,
                         Operator<"aten::minimum", "", at::native::structured_minimum_out>>;
using Scaled = Operators<Operator<"aten::add", "Tensor", at::native::structured_ufunc_add_CPU>,
                         Operator<"aten::sub", "Tensor", at::native::structured_sub_out>>;

using SumOfProduct =
    Operators<Operator<"aten::addmm", "", Product>, Operator<"aten::baddbmm", "", Product>>;

/// A structured CPU kernel on tensors of the device as they are: the loops over elements read
/// addresses and strides alone. Its result is memory of the current device.
template <class Structured>
class OnDevice final : public Structured {
 public:
  template <class... Args>
  at::Tensor operator()(const Args&... arguments) {
    this->meta(arguments...);
    // Says whose loops to take.
    for (auto& operand : this->operands_) operand.device = c10::Device(c10::DeviceType::CPU);
    this->impl(arguments..., result_);
    return std::move(result_);
  }

  void set_output_strided(int64_t index, c10::IntArrayRef size, c10::IntArrayRef stride,
                          c10::TensorOptions options) override {
    set_output_raw_strided(index, size, stride, options);
  }
  void set_output_raw_strided(int64_t index, c10::IntArrayRef size, c10::IntArrayRef stride,
                              c10::TensorOptions options) override {
    constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);
    const c10::ScalarType dtype = c10::typeMetaToScalarType(options.dtype());
    result_ = stride.empty()
                  ? at::detail::empty_generic(size, NpuAllocator(), kKeys, dtype,
                                              options.memory_format_opt())
                  : at::detail::empty_strided_generic(size, stride, NpuAllocator(), kKeys, dtype);
    Structured::set_output_raw_strided(index, size, stride, options);
  }
  const at::Tensor& maybe_get_output(int64_t) override { return result_; }

 private:
  at::Tensor result_;
};

/// Whether OnDevice takes other beside first: strided tensors of one device and floating dtype, so
/// that no operand is converted.
template <class T>
bool IsLike(const at::Tensor& first, const T& other) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return other.defined() && other.is_privateuseone() && other.device() == first.device() &&
           other.layout() == c10::kStrided && other.has_storage() && other.is_floating_point() &&
           other.scalar_type() == first.scalar_type();
  } else {
    return true;
  }
}

/// Products of 16-bit floats are computed in float32 and rounded once: on processors without
/// instructions for them CPU kernels take fifty times as long as for float32. Below so many
/// multiplications the conversions cost more, and a row times contiguous columns has quick kernels.
constexpr int64_t kLeastWidened = 4096;

bool IsWidened(const at::Tensor& a, const at::Tensor& b) {
  const c10::ScalarType dtype = a.scalar_type();
  return (dtype == at::kHalf || dtype == at::kBFloat16) && b.scalar_type() == dtype &&
         a.dim() >= 2 && b.dim() >= 2 && a.numel() * b.size(-1) >= kLeastWidened &&
         !(a.size(-2) == 1 && b.stride(-2) == 1);
}
bool IsWidened(const at::Tensor& summand, const at::Tensor& a, const at::Tensor& b,
               const at::Scalar&, const at::Scalar&) {
  return summand.scalar_type() == a.scalar_type() && IsWidened(a, b);
}

template <class T>
decltype(auto) Widened(const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return argument.to(at::kFloat);
  } else {
    return argument;
  }
}

/// Keeps the memory of an operand, which another thread may move to shared memory meanwhile.
template <class T>
StoragePtr Hold(const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    return TwinOf(argument.storage().unsafeGetStorageImpl());
  } else {
    return {};
  }
}

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

template <class Op, class... Args>
at::Tensor Call(const at::Tensor& first, const Args&... more) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow(Op::kName, Op::kOverload)
                             .template typed<at::Tensor(const at::Tensor&, const Args&...)>();
  static const Plan plan(op);
  if (C10_UNLIKELY(StrictDtypes() || NeedsBoxes(first) || (NeedsBoxes(more) || ...))) {
    torch::jit::Stack stack;
    torch::jit::push(stack, first, more...);
    IsModular(plan.name) ? Modular(op, &stack) : CallOnCpu(op, &stack);
    return torch::jit::pop(stack).toTensor();
  }
  LogFallback(plan.name);
  if constexpr (!std::is_void_v<typename Op::Structured>) {
    if (C10_LIKELY(IsLike(first, first) && (IsLike(first, more) && ...))) {
      const DeviceScope scope(first.device().index());
      const StoragePtr held[] = {Hold(first), Hold(more)...};
      Drain(first.device().index());
      return OnDevice<typename Op::Structured>{}(first, more...);
    }
  }
  CpuCall call(plan);
  const std::tuple<at::Tensor, Args...> entered{Enter(call, first), Enter(call, more)...};
  call.EndEntering();
  return call.LeaveTensor(call.Run([&] {
    return std::apply(
        [](const at::Tensor& inner, const auto&... others) {
          constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::CPU);
          if constexpr (Op::kIsProduct) {
            if (IsWidened(inner, others...))
              return op.redispatch(kKeys, Widened(inner), Widened(others)...)
                  .to(inner.scalar_type());
          }
          return op.redispatch(kKeys, inner, others...);
        },
        entered);
  }));
}

/// The call of op if that is among Ops, which take a tensor and More.
template <class... More, class... Ops>
std::optional<torch::CppFunction> Find(const c10::OperatorName& op, Operators<Ops...>) {
  std::optional<torch::CppFunction> found;
  const auto try_one = [&](const char* name, const char* overload, auto* function) {
    if (op.name == name && op.overload_name == overload) found.emplace(function);
  };
  (try_one(Ops::kName, Ops::kOverload, &Call<Ops, More...>), ...);
  return found;
}

}  // namespace

std::optional<torch::CppFunction> DirectFor(const c10::OperatorName& op) {
  if (auto function = Find<>(op, Unary{})) return function;
  if (auto function = Find<at::Tensor>(op, Binary{})) return function;
  if (auto function = Find<at::Tensor, at::Scalar>(op, Scaled{})) return function;
  return Find<at::Tensor, at::Tensor, at::Scalar, at::Scalar>(op, SumOfProduct{});
}

}  // namespace npu_backend
