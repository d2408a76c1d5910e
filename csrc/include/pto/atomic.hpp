// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"

namespace pto::detail {

template <size_t kBytes>
struct AtomicWord;
template <>
struct AtomicWord<1> {
  using Type = uint8_t __attribute__((may_alias));
};
template <>
struct AtomicWord<2> {
  using Type = uint16_t __attribute__((may_alias));
};
template <>
struct AtomicWord<4> {
  using Type = uint32_t __attribute__((may_alias));
};

/// *to = change(*to), as one step for launches that run at the same time.
template <class T, class Change>
inline void AtomicChange(T* to, const Change& change) {
  using Word = typename AtomicWord<sizeof(T)>::Type;
  auto* word = reinterpret_cast<Word*>(to);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED), next;
  do {
    T current;
    std::memcpy(static_cast<void*>(&current), &old, sizeof(T));
    const T changed = change(current);
    std::memcpy(&next, &changed, sizeof(T));
  } while (
      !__atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/// *to += value, as one step for launches that run at the same time; within a launch the order is
/// that of the blocks. half and bfloat16 are rounded once per addition.
template <class T>
inline void AtomicAdd(T* to, T value) {
  if constexpr (std::is_integral_v<T>) {
    using Word = typename AtomicWord<sizeof(T)>::Type;
    auto* word = reinterpret_cast<Word*>(to);
    __atomic_fetch_add(word, static_cast<Word>(value), __ATOMIC_RELAXED);
  } else {
    AtomicChange(to, [value](T current) {
      return static_cast<T>(static_cast<npu::simd::Compute<T>>(current) +
                            static_cast<npu::simd::Compute<T>>(value));
    });
  }
}

/// *to = the greater (or lesser) of *to and value.
template <bool kGreater, class T>
inline void AtomicSelect(T* to, T value) {
  AtomicChange(to, [value](T current) {
    return (kGreater ? value > current : value < current) ? value : current;
  });
}

}  // namespace pto::detail
