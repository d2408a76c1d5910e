// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// The vectors that loops over elements compute in, and parts of them.
namespace npu::simd {

// Wider lanes than registers are taken apart one by one. Clang has other builtins for 512 bits.
#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && !defined(__clang__)
#define NPU_LANES 16
#elif defined(__AVX__)
#define NPU_LANES 8
#else
#define NPU_LANES 4
#endif
inline constexpr int kLanes = NPU_LANES;
using Float = float __attribute__((vector_size(4 * kLanes)));
using Int = int32_t __attribute__((vector_size(4 * kLanes)));
using Uint = uint32_t __attribute__((vector_size(4 * kLanes)));
using Uint16 = uint16_t __attribute__((vector_size(2 * kLanes)));

namespace detail {

// A sanitizer does not see what masks leave out.
#if NPU_LANES == 16 && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NPU_MASKS
#endif

#ifdef NPU_MASKS
/// Vectors of 16 elements of some bytes, of which only the first ones are read, with zeros behind
/// them, or written.
template <size_t kBytes>
struct Masked;
template <>
struct Masked<1> {
  using V = char __attribute__((vector_size(16)));
  static V Load(const char* from, uint16_t mask) {
    return __builtin_ia32_loaddquqi128_mask(from, V{}, mask);
  }
  static void Store(char* to, V value, uint16_t mask) {
    __builtin_ia32_storedquqi128_mask(to, value, mask);
  }
};
template <>
struct Masked<2> {
  using V = short __attribute__((vector_size(32)));
  static V Load(const short* from, uint16_t mask) {
    return __builtin_ia32_loaddquhi256_mask(from, V{}, mask);
  }
  static void Store(short* to, V value, uint16_t mask) {
    __builtin_ia32_storedquhi256_mask(to, value, mask);
  }
};
template <>
struct Masked<4> {
  using V = Int;
  static V Load(const int* from, uint16_t mask) {
    return __builtin_ia32_loaddqusi512_mask(from, V{}, mask);
  }
  static void Store(int* to, V value, uint16_t mask) {
    __builtin_ia32_storedqusi512_mask(to, value, mask);
  }
};

/// The first count <= 16 elements at from.
template <class T>
[[gnu::always_inline]] inline auto LoadFirst(const T* from, size_t count) {
  using M = Masked<sizeof(T)>;
  using Element = std::decay_t<decltype(typename M::V{}[0])>;
  return M::Load(reinterpret_cast<const Element*>(from), static_cast<uint16_t>((1u << count) - 1));
}
template <class T>
[[gnu::always_inline]] inline void StoreFirst(T* to, typename Masked<sizeof(T)>::V value,
                                              size_t count) {
  using M = Masked<sizeof(T)>;
  using Element = std::decay_t<decltype(typename M::V{}[0])>;
  M::Store(reinterpret_cast<Element*>(to), value, static_cast<uint16_t>((1u << count) - 1));
}
#endif

/// A copy of count <= kLanes elements with zeros behind them.
template <class T>
struct Padded {
  T lanes[kLanes];
  [[gnu::always_inline]] Padded(const T* from, size_t count) {
#ifdef NPU_MASKS
    const auto first = LoadFirst(from, count);
    std::memcpy(static_cast<void*>(lanes), &first, sizeof(lanes));
#else
    std::memset(static_cast<void*>(lanes), 0, sizeof(lanes));
    std::memcpy(static_cast<void*>(lanes), from, count * sizeof(T));
#endif
  }
};

/// to = the first count <= kLanes elements of from.
template <class T>
[[gnu::always_inline]] inline void CopyFirst(T* to, const T (&from)[kLanes], size_t count) {
#ifdef NPU_MASKS
  StoreFirst(to, LoadFirst(from, kLanes), count);
#else
  std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
#endif
}

}  // namespace detail

}  // namespace npu::simd
