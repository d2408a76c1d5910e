// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "npu/simd.hpp"

/// Reductions of lanes of float.
namespace npu::simd {

namespace detail {

/// value as an element of type T holds it.
template <class T>
[[gnu::always_inline]] inline Float Rounded(Float value) {
  if constexpr (std::is_same_v<T, half>)
    return WidenHalf(NarrowHalf(value));
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return WidenBfloat16(NarrowBfloat16(value));
  else
    return value;
}

/// The first (kSecond = 0) or second ones of all pairs of neighbours in a and b.
template <int kSecond, class V>
[[gnu::always_inline]] inline V InOrder(V a, V b) {
  constexpr int s = kSecond;
  if constexpr (sizeof(V) == 4 * sizeof(float))
    return __builtin_shufflevector(a, b, s, 2 + s, 4 + s, 6 + s);
  else if constexpr (sizeof(V) == 8 * sizeof(float))
    return __builtin_shufflevector(a, b, s, 2 + s, 4 + s, 6 + s, 8 + s, 10 + s, 12 + s, 14 + s);
  else
    return __builtin_shufflevector(a, b, s, 2 + s, 4 + s, 6 + s, 8 + s, 10 + s, 12 + s, 14 + s,
                                   16 + s, 18 + s, 20 + s, 22 + s, 24 + s, 26 + s, 28 + s, 30 + s);
}

/// The same in an order that suits the kStage-th of several such steps. Moves between the halves of
/// 8 lanes are slow: two stages keep within them, which puts lanes 0 to 3 of all vectors before
/// lanes 4 to 7 of them, and every third stage pairs the halves.
template <int kStage, int kSecond, class V>
[[gnu::always_inline]] inline V OfPairs(V a, V b) {
  constexpr int s = kSecond;
  if constexpr (sizeof(V) != 8 * sizeof(float))
    return InOrder<kSecond>(a, b);
  else if constexpr (kStage % 3 == 2)
    return __builtin_shufflevector(a, b, 4 * s, 4 * s + 1, 4 * s + 2, 4 * s + 3, 4 * s + 8,
                                   4 * s + 9, 4 * s + 10, 4 * s + 11);
  else
    return __builtin_shufflevector(a, b, s, 2 + s, 8 + s, 10 + s, 4 + s, 6 + s, 12 + s, 14 + s);
}

/// All ones in the first count lanes.
[[gnu::always_inline]] inline Int FirstLanes(int count) {
  Int index;
  for (int lane = 0; lane < kLanes; ++lane) index[lane] = lane;
  return index < count;
}

/// Combines the kCount elements in lanes pairwise until one is left, in lane 0.
template <class T, int kStage, size_t kCount, class F>
[[gnu::always_inline]] inline Float CombineStages(const F& f, Float* lanes) {
  if constexpr (kCount == 1) {
    return lanes[0];
  } else {
    constexpr bool kOfOneVector = kCount <= kLanes;
    constexpr size_t kVectors = kOfOneVector ? 1 : kCount / kLanes / 2;
#pragma GCC unroll 16
    for (size_t i = 0; i < kVectors; ++i) {
      const Float a = lanes[2 * i], b = kOfOneVector ? a : lanes[2 * i + 1];
      lanes[i] = Rounded<T>(f(OfPairs<kStage, 0>(a, b), OfPairs<kStage, 1>(a, b)));
    }
    return CombineStages<T, kStage + 1, kCount / 2>(f, lanes);
  }
}

/// Combines the first count of the kCount elements in lanes pairwise until one is left, in lane 0;
/// an element without a neighbour passes.
template <class T, size_t kCount, class F>
[[gnu::always_inline]] inline Float CombineFirst(const F& f, Float* lanes, int count) {
  if constexpr (kCount == 1) {
    return lanes[0];
  } else {
    constexpr size_t kVectors = kCount <= kLanes ? 1 : kCount / kLanes / 2;
#pragma GCC unroll 16
    for (size_t i = 0; i < kVectors; ++i) {
      const Float a = lanes[2 * i], b = kCount <= kLanes ? a : lanes[2 * i + 1];
      const Float first = InOrder<0>(a, b);
      const Float combined = Rounded<T>(f(first, InOrder<1>(a, b)));
      lanes[i] = FirstLanes(count / 2 - static_cast<int>(i) * kLanes) ? combined : first;
    }
    return CombineFirst<T, kCount / 2>(f, lanes, (count + 1) / 2);
  }
}

}  // namespace detail

/// Lane i of kCount, a power of two of at least kLanes, takes elements i, i + kCount, ... in turn;
/// then neighbouring lanes are combined until one is left. Each step is rounded to T; length is at
/// least kCount.
template <size_t kCount, class F, class T>
inline T CombineRepeats(const F& f, const T* from, size_t length) {
  static_assert(kCount >= kLanes && (kCount & (kCount - 1)) == 0, "expected a power of two");
  constexpr size_t kVectors = kCount / kLanes;
  Float lanes[kVectors];
#pragma GCC unroll 32
  for (size_t i = 0; i < kVectors; ++i) lanes[i] = LoadFloat(from + i * kLanes);
  size_t at = kCount;
  for (; at + kCount <= length; at += kCount) {
#pragma GCC unroll 32
    for (size_t i = 0; i < kVectors; ++i) {
      lanes[i] = detail::Rounded<T>(f(lanes[i], LoadFloat(from + at + i * kLanes)));
    }
  }
#pragma GCC unroll 32
  for (size_t i = 0; i < kVectors; ++i, at += kLanes) {
    if (at >= length) break;
    const size_t count = length - at < kLanes ? length - at : kLanes;
    const Float next = LoadFloat(detail::Padded<T>(from + at, count).lanes);
    const Float combined = detail::Rounded<T>(f(lanes[i], next));
    lanes[i] = detail::FirstLanes(static_cast<int>(count)) ? combined : lanes[i];
  }
  T result[kLanes];
  StoreFloat(result, detail::CombineStages<T, 0, kCount>(f, lanes));
  return result[0];
}

/// Combines neighbours of the length <= kCount elements at from until one is left; an element
/// without a neighbour passes, but for a signalling NaN, which becomes quiet. Each step is rounded
/// to T.
template <size_t kCount, class F, class T>
inline T CombineNeighbours(const F& f, const T* from, size_t length) {
  Float lanes[kCount / kLanes];
#pragma GCC unroll 32
  for (size_t i = 0; i < kCount / kLanes; ++i) {
    const size_t at = i * kLanes;
    const size_t count = length <= at ? 0 : length - at < kLanes ? length - at : kLanes;
    lanes[i] = LoadFloat(detail::Padded<T>(count == 0 ? from : from + at, count).lanes);
  }
  T result[kLanes];
  StoreFloat(result, detail::CombineFirst<T, kCount>(f, lanes, static_cast<int>(length)));
  return result[0];
}

}  // namespace npu::simd
