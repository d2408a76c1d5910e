// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "npu/entry.hpp"
#include "npu/half.hpp"
#include "npu/kernel.h"

namespace npu {

template <class T>
constexpr npuTypeKind TypeKindOf() {
  if (std::is_same_v<T, bool>) return NPU_TYPE_BOOL;
  if (std::is_same_v<T, bfloat16_t>) return NPU_TYPE_BFLOAT16;
  if (std::is_same_v<T, half> || std::is_floating_point_v<T>) return NPU_TYPE_FLOAT;
  if constexpr (std::is_enum_v<T>) return TypeKindOf<std::underlying_type_t<T>>();
  if (std::is_integral_v<T>) return std::is_signed_v<T> ? NPU_TYPE_INT : NPU_TYPE_UINT;
  return NPU_TYPE_OTHER;
}

template <class T>
constexpr uint32_t SizeOf() {
  if constexpr (std::is_void_v<T> || std::is_function_v<T>)
    return 0;
  else
    return sizeof(T);
}

/// "... [with T = Tiling]": the compiler's spelling of T, for messages.
template <class T>
constexpr const char* Spelling() {
  return __PRETTY_FUNCTION__;
}

template <class T>
constexpr npuParameter Describe(size_t offset) {
  using Pointee = std::remove_pointer_t<T>;
  using Value = std::remove_cv_t<Pointee>;
  return {Spelling<Value>(),    offset,
          SizeOf<Value>(),      TypeKindOf<Value>(),
          std::is_pointer_v<T>, std::is_const_v<Pointee>};
}

/// The parameters of kFunction, as the compiler sees them.
template <auto* kFunction>
struct Signature;

template <class... Params, void (*kFunction)(Params...)>
struct [[gnu::visibility("hidden")]] Signature<kFunction> {
  template <size_t... kIndex>
  static constexpr auto Table(std::index_sequence<kIndex...>) {
    struct Parameters {
      npuParameter list[sizeof...(Params) + 1];
    };
    return Parameters{{Describe<Params>(Entry<kFunction>::Offset(kIndex))..., npuParameter{}}};
  }

  static constexpr auto kTable = Table(std::index_sequence_for<Params...>{});
  static constexpr npuSignature kSignature = {kTable.list, sizeof...(Params)};
};

}  // namespace npu
