// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

/// to[column][row] = from[row][column] for 8 rows and columns of elements of 16 bits; pitches in
/// elements.
template <class To, class From>
inline void TransposeSquare(To* to, size_t to_pitch, const From* from, size_t from_pitch) {
  static_assert(sizeof(To) == 2 && sizeof(From) == 2, "expected elements of 16 bits");
  Uint16x8 rows[8];
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) std::memcpy(&rows[i], from + i * from_pitch, sizeof(rows[i]));
  Transpose(rows);
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) {
    std::memcpy(static_cast<void*>(to + i * to_pitch), &rows[i], sizeof(rows[i]));
  }
}

}  // namespace npu::simd
