// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace npu::simd {

using Uint16x8 = uint16_t __attribute__((vector_size(16)));

/// Transposes 8 rows of 8 lanes of 16 bits.
[[gnu::always_inline]] inline void Transpose(Uint16x8 (&r)[8]) {
  Uint16x8 a[8], b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 2, 10, 3, 11);
    a[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 4, 12, 5, 13, 6, 14, 7, 15);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 2, 3, 10, 11);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 2], 4, 5, 12, 13, 6, 7, 14, 15);
    b[i + 2] = __builtin_shufflevector(a[i + 1], a[i + 3], 0, 1, 8, 9, 2, 3, 10, 11);
    b[i + 3] = __builtin_shufflevector(a[i + 1], a[i + 3], 4, 5, 12, 13, 6, 7, 14, 15);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[2 * i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[2 * i + 1] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

using Uint32x4 = uint32_t __attribute__((vector_size(16)));

/// Transposes 4 rows of 4 lanes of 32 bits.
[[gnu::always_inline]] inline void Transpose(Uint32x4 (&r)[4]) {
  const Uint32x4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  const Uint32x4 b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  const Uint32x4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Uint32x4 d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

/// store(i, column i) for the columns of rows row(0), row(1), ... of as many lanes as there are
/// rows.
template <class V, class Row, class Store>
[[gnu::always_inline]] inline void TransposeRows(const Row& row, const Store& store) {
  constexpr int kCount = sizeof(V) / sizeof(V{}[0]);
  V lanes[kCount];
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) std::memcpy(&lanes[i], row(i), sizeof(V));
  Transpose(lanes);
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) store(i, lanes[i]);
}

/// to[column][row] = from[row][column] for 8 rows and columns of elements of 16 or 32 bits; pitches
/// in elements.
template <class To, class From>
inline void TransposeSquare(To* to, size_t to_pitch, const From* from, size_t from_pitch) {
  static_assert(sizeof(To) == sizeof(From) && (sizeof(To) == 2 || sizeof(To) == 4),
                "expected elements of 16 or 32 bits");
  using V = std::conditional_t<sizeof(To) == 2, Uint16x8, Uint32x4>;
  constexpr size_t kPart = sizeof(V) / sizeof(To);
  for (size_t row = 0; row < 8; row += kPart) {
    for (size_t col = 0; col < 8; col += kPart) {
      TransposeRows<V>([&](size_t i) { return from + (row + i) * from_pitch + col; },
                       [&](size_t i, const V& v) {
                         std::memcpy(static_cast<void*>(to + (col + i) * to_pitch + row), &v,
                                     sizeof(V));
                       });
    }
  }
}

}  // namespace npu::simd
