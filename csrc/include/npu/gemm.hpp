// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"

/// The inner loops of matrix products: blocks of kGemmRows rows of A, as they lie, times panels of
/// kGemmCols columns of B, row after row of the panel contiguous.
///
/// Order of additions, in every lane and at every ISA level: the start value, then one fused
/// multiply-add (a single rounding) per k, k ascending.
namespace npu::simd {

inline constexpr int kGemmRows = 4;
inline constexpr int kGemmCols = 16;

namespace detail {

/// a * b + c, rounded once. Levels without such an instruction call the exact fma of the C library
/// lane by lane, which is slow.
[[gnu::always_inline]] inline Float FusedMultiplyAdd(Float a, Float b, Float c) {
#if defined(__FMA__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps256(a, b, c);
#else
  Float sum;
  for (int lane = 0; lane < kLanes; ++lane) {
    sum[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  }
  return sum;
#endif
}

/// The elements that In is multiplied as. The product of two halves has at most 22 bits and no
/// float overflow or underflow: it is exact, and adding it rounds once, as the fused operation.
template <class In>
struct Multiplier {
  using Lanes = Float;
  using Scalar = float;

  [[gnu::always_inline]] static Float Add(Float a, Float b, Float c) {
#if !defined(__FMA__) && !defined(__aarch64__)
    if constexpr (std::is_same_v<In, half>) return a * b + c;
#endif
    return FusedMultiplyAdd(a, b, c);
  }
  [[gnu::always_inline]] static Float Load(const In* from) { return LoadFloat(from); }
};

template <>
struct Multiplier<int8_t> {
  using Lanes = Int;
  using Scalar = int32_t;

  /// Wraps, as the chip's accumulator does.
  [[gnu::always_inline]] static Int Add(Int a, Int b, Int c) {
    return (Int)((Uint)a * (Uint)b + (Uint)c);
  }
  [[gnu::always_inline]] static Int Load(const int8_t* from) {
    int8_t __attribute__((vector_size(kLanes))) narrow;
    std::memcpy(&narrow, from, sizeof(narrow));
    return __builtin_convertvector(narrow, Int);
  }
};

template <class V, class T>
[[gnu::always_inline]] inline V LoadLanes(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class V, class T>
[[gnu::always_inline]] inline V Broadcast(T value) {
  if constexpr (kLanes == 8)
    return V{value, value, value, value, value, value, value, value};
  else
    return V{value, value, value, value};
}

/// kGemmRows x 2 vectors of the product, all accumulators in registers.
template <class In, class T = typename Multiplier<In>::Scalar>
[[gnu::always_inline]] inline void MultiplyColumns(size_t depth, const T* a, size_t a_pitch,
                                                   const T* b, const T* start, size_t start_pitch,
                                                   T* out) {
  using M = Multiplier<In>;
  using V = typename M::Lanes;
  V sum[kGemmRows][2];
#pragma GCC unroll 4
  for (int row = 0; row < kGemmRows; ++row) {
    sum[row][0] = LoadLanes<V>(start + row * start_pitch);
    sum[row][1] = LoadLanes<V>(start + row * start_pitch + kLanes);
  }
#pragma GCC unroll 2
  for (size_t k = 0; k < depth; ++k) {
    const V b0 = LoadLanes<V>(b + k * kGemmCols);
    const V b1 = LoadLanes<V>(b + k * kGemmCols + kLanes);
#pragma GCC unroll 4
    for (int row = 0; row < kGemmRows; ++row) {
      const V value = Broadcast<V>(a[row * a_pitch + k]);
      sum[row][0] = M::Add(value, b0, sum[row][0]);
      sum[row][1] = M::Add(value, b1, sum[row][1]);
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < kGemmRows; ++row) {
    std::memcpy(out + row * kGemmCols, &sum[row][0], sizeof(V));
    std::memcpy(out + row * kGemmCols + kLanes, &sum[row][1], sizeof(V));
  }
}

}  // namespace detail

/// out = start + a * b for kGemmRows rows and kGemmCols columns; out has a pitch of kGemmCols and
/// may be start.
template <class In, class T = typename detail::Multiplier<In>::Scalar>
[[gnu::noinline]] void MultiplyBlock(size_t depth, const T* a, size_t a_pitch, const T* b,
                                     const T* start, size_t start_pitch, T* out) {
#pragma GCC unroll 2
  for (int col = 0; col < kGemmCols; col += 2 * kLanes) {
    detail::MultiplyColumns<In>(depth, a, a_pitch, b + col, start + col, start_pitch, out + col);
  }
}

namespace detail {

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

}  // namespace detail

/// Elements that PackBlock takes from each column.
inline constexpr int kPackDepth = 8;

/// to[k][column] = column_of(column)[k] for kPackDepth values of k and kGemmCols columns.
template <class In, class T, class ColumnOf>
[[gnu::always_inline]] inline void PackBlock(T* to, const ColumnOf& column_of) {
  if constexpr (kIsHalf<In>) {
#pragma GCC unroll 2
    for (int half_panel = 0; half_panel < kGemmCols; half_panel += 8) {
      detail::Uint16x8 rows[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        rows[i] = detail::LoadLanes<detail::Uint16x8>(column_of(half_panel + i));
      }
      detail::Transpose(rows);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        In narrow[8];
        std::memcpy(static_cast<void*>(narrow), &rows[i], sizeof(narrow));
        for (int at = 0; at < 8; at += kLanes) {
          StoreFloat(to + i * kGemmCols + half_panel + at, LoadFloat(narrow + at));
        }
      }
    }
  } else {
    for (int column = 0; column < kGemmCols; ++column) {
      const In* from = column_of(column);
      for (int k = 0; k < kPackDepth; ++k) to[k * kGemmCols + column] = static_cast<T>(from[k]);
    }
  }
}

/// to[i] = from[i] in the type that is multiplied, for count elements, a multiple of 8.
template <class In, class T>
[[gnu::always_inline]] inline void PackRun(T* to, const In* from, size_t count) {
  using M = detail::Multiplier<In>;
  for (size_t i = 0; i < count; i += kLanes) {
    const typename M::Lanes lanes = M::Load(from + i);
    std::memcpy(to + i, &lanes, sizeof(lanes));
  }
}

/// Rounds count floats to mantissa_bits bits behind the point; infinities and NaN stay.
inline void ShortenMantissa(float* data, size_t count, int mantissa_bits, bool ties_even) {
  const int dropped = 23 - mantissa_bits;
  const uint32_t half_unit = uint32_t{1} << (dropped - 1);
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, data + i, sizeof(bits));
    if ((bits & 0x7f800000u) == 0x7f800000u) continue;
    bits += ties_even ? half_unit - 1 + (bits >> dropped & 1u) : half_unit;
    bits &= ~(2 * half_unit - 1);
    std::memcpy(data + i, &bits, sizeof(bits));
  }
}

}  // namespace npu::simd
