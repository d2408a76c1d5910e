// SPDX-License-Identifier: Apache-2.0
// NPU_LAUNCH_KERNEL: launches a tile kernel of one's own library on tensors of PyTorch. Such a
// library links to libnpu_backend.so; its kernels are compiled with the flags of a pass.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/parameter.hpp"
#include "npu/signature.hpp"
#include "npu_runtime.h"

/// Runs kernel, a void function, in blocks blocks. One argument for each of its parameters:
///   pointer  a contiguous tensor of its element type (any type for GM_ADDR and void*), or nullptr,
///            which an undefined tensor stands for, too; npu::AnyStrides{tensor} gives the address
///            of the first element, whatever the strides are
///   number   a number that the type of the parameter can hold
///   struct   one of that type
/// All tensors lie on one device. On npu the kernel is queued on the current stream of that device,
/// the call returns, and the launch owns the memory of the tensors until it has run. On cpu the
/// kernel has run when the call returns.
/// What the types tell is checked by the compiler, the rest raises a sentence as a c10::Error.
#define NPU_LAUNCH_KERNEL(kernel, blocks, ...) \
  NPU_LAUNCH_KERNEL_WITH(0, kernel, blocks, __VA_ARGS__)

/// The same with flags: NPU_LAUNCH_FLOAT64 for a kernel that computes in float64, as no chip does.
#define NPU_LAUNCH_KERNEL_WITH(flags, kernel, blocks, ...)                                        \
  ::npu::KernelCall<&kernel>::Launch(#kernel, ::npu::LaunchOptions{static_cast<uint32_t>(flags)}, \
                                     blocks, __VA_ARGS__)

namespace npu {

/// A tensor of any strides, which the kernel learns by other arguments.
struct AnyStrides {
  const at::Tensor& tensor;
};

/// Memory that no tensor names: nothing holds it, and transfers are not bound to it.
template <class T>
struct RawAddress {
  T* address;
};
template <class T>
inline constexpr bool kIsRawAddress = false;
template <class T>
inline constexpr bool kIsRawAddress<RawAddress<T>> = true;

/// How a kernel is launched on tensors.
struct LaunchOptions {
  uint32_t flags = 0;            // NPU_LAUNCH_...
  npuStream_t stream = nullptr;  // of npu; nullptr: the current one of the tensors' device
  bool waits_for_raw = false;  // the call returns when the kernel has run, if it got raw addresses
  bool has_raw = false;
};

/// A tensor for a parameter, a pointer.
struct TensorArgument {
  const at::Tensor* tensor;
  size_t parameter;
  bool any_strides;
};

/// In libnpu_backend.so: writes the addresses of tensors into args, which hold all else, and
/// launches.
NPU_API void LaunchOnTensors(const npuKernel& kernel, const npuSignature& signature,
                             const LaunchOptions& options, int64_t blocks, std::byte* args,
                             c10::ArrayRef<TensorArgument> tensors);

/// The arguments of one call.
template <size_t kCount, size_t kBytes>
class KernelArguments {
 public:
  KernelArguments(const char* kernel, const npuSignature& signature)
      : kernel_(kernel), signature_(signature) {}

  /// Takes argument for parameter index, a Param.
  template <class Param, class Argument>
  void Set(size_t index, const Argument& argument) {
    if constexpr (std::is_base_of_v<at::Tensor, Argument>) {
      static_assert(std::is_pointer_v<Param>, "NPU_LAUNCH_KERNEL: expected a value, got a tensor");
      tensors_[tensor_count_++] = {&argument, index, false};
    } else if constexpr (std::is_same_v<Argument, AnyStrides>) {
      static_assert(std::is_pointer_v<Param>, "NPU_LAUNCH_KERNEL: expected a value, got a tensor");
      tensors_[tensor_count_++] = {&argument.tensor, index, true};
    } else if constexpr (kIsRawAddress<Argument>) {
      constexpr bool kTakesAny = std::is_convertible_v<uint8_t*, Param>;  // GM_ADDR, void*
      static_assert(kTakesAny || std::is_convertible_v<decltype(argument.address), Param>,
                    "EXEC_KERNEL_CMD: expected a pointer to the element type of the parameter");
      Write(index, argument.address);
      has_raw_ = true;
    } else if constexpr (std::is_pointer_v<Param>) {
      static_assert(std::is_same_v<Argument, std::nullptr_t>,
                    "NPU_LAUNCH_KERNEL: expected a tensor or nullptr for a pointer");
    } else if constexpr (kIsNumber<Param> && std::is_arithmetic_v<Argument>) {
      static_assert(!std::is_integral_v<Param> || std::is_integral_v<Argument>,
                    "NPU_LAUNCH_KERNEL: expected an integer for a parameter that is one");
      Write(index, Converted<Param>(index, argument));
    } else {
      static_assert(std::is_same_v<Param, Argument>,
                    "NPU_LAUNCH_KERNEL: expected an argument of the type of the parameter");
      Write(index, argument);
    }
  }

  void Launch(const npuKernel& kernel, LaunchOptions options, int64_t blocks) {
    options.has_raw = has_raw_;
    LaunchOnTensors(kernel, signature_, options, blocks, bytes_, {tensors_, tensor_count_});
  }

 private:
  template <class T>
  static constexpr bool kIsNumber =
      std::is_arithmetic_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

  template <class T>
  void Write(size_t index, const T& value) {
    std::memcpy(bytes_ + signature_.parameters[index].offset, &value, sizeof(T));
  }

  /// number as a Param, which must hold it: an integer exactly, a finite number as a finite one.
  template <class Param, class Number>
  Param Converted(size_t index, Number number) const {
    const auto value = static_cast<Param>(number);
    bool fits = true;
    if constexpr (std::is_integral_v<Param>) {
      fits = static_cast<Number>(value) == number && (value < Param{}) == (number < Number{});
    } else {
      fits =
          std::isfinite(static_cast<double>(value)) || !std::isfinite(static_cast<double>(number));
    }
    TORCH_CHECK_VALUE(fits, kernel_, ": argument ", index, " (",
                      TypeName(signature_.parameters[index]),
                      "): expected a number that this type holds, got ", +number);
    return value;
  }

  const char* kernel_;
  const npuSignature& signature_;
  alignas(std::max_align_t) std::byte bytes_[kBytes] = {};
  TensorArgument tensors_[kCount] = {};
  size_t tensor_count_ = 0;
  bool has_raw_ = false;
};

/// A kernel of this compile pass. Hidden: each library has its own, whatever the kernel is called.
template <auto* kFunction>
struct KernelCall;

template <class... Params, void (*kFunction)(Params...)>
struct [[gnu::visibility("hidden")]] KernelCall<kFunction> {
  template <class... Arguments>
  static void Launch(const char* name, const LaunchOptions& options, int64_t blocks,
                     const Arguments&... arguments) {
    constexpr bool kSameCount = sizeof...(Arguments) == sizeof...(Params);
    static_assert(kSameCount, "NPU_LAUNCH_KERNEL: expected one argument for each parameter");
    static_assert((std::is_pointer_v<Params> || ...),
                  "NPU_LAUNCH_KERNEL: expected a kernel with a pointer among its parameters");
    static constexpr npuKernelPass kPass = Entry<kFunction>::kPass;
#if defined(__DAV_CUBE__) && !defined(__DAV_VEC__)
    static const npuKernel kernel = {name, nullptr, &kPass};
#else
    static const npuKernel kernel = {name, &kPass, nullptr};
#endif
    if constexpr (kSameCount) {
      constexpr size_t kCount = sizeof...(Params);
      KernelArguments<kCount, Entry<kFunction>::Offset(kCount)> call(
          name, Signature<kFunction>::kSignature);
      size_t index = 0;
      (call.template Set<Params>(index++, arguments), ...);
      call.Launch(kernel, options, blocks);
    }
  }
};

}  // namespace npu
