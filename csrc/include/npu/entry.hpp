// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "npu/core_layout.hpp"
#include "npu/kernel.h"

namespace npu {

/// Calls kFunction with parameters unpacked from the bytes of a launch.
template <auto* kFunction>
struct Entry;

template <class... Params, void (*kFunction)(Params...)>
struct Entry<kFunction> {
  static_assert((std::is_trivially_copyable_v<Params> && ...),
                "kernel parameters are copied as bytes");

  static constexpr size_t OffsetAfter(size_t end, size_t alignment) {
    return (end + alignment - 1) / alignment * alignment;
  }

  /// Offset of parameter index; with index == sizeof...(Params) the size of them all.
  static constexpr size_t Offset(size_t index) {
    constexpr size_t sizes[] = {sizeof(Params)..., 0};
    constexpr size_t alignments[] = {alignof(Params)..., 1};
    size_t end = 0;
    for (size_t i = 0; i < index; ++i) end = OffsetAfter(end, alignments[i]) + sizes[i];
    return OffsetAfter(end, alignments[index]);
  }

  template <class T>
  static T Load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }

  template <size_t... kIndex>
  static void Unpack(const std::byte* args, std::index_sequence<kIndex...>) {
    kFunction(Load<Params>(args + Offset(kIndex))...);
  }

  static void Run(const void* args) {
    Unpack(static_cast<const std::byte*>(args), std::index_sequence_for<Params...>{});
  }

  /// Bytes up to the end of the last parameter; the padding that a C struct adds behind it does not
  /// count.
  static constexpr npuKernelPass kPass = {&Run, Offset(sizeof...(Params)), kCoreLayout};
};

}  // namespace npu
