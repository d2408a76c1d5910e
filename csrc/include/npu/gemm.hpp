// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/simd.hpp"
#include "npu/transpose.hpp"

/// The inner loops of matrix products: blocks of kGemmRows rows of A, as they lie, times panels of
/// columns of B, row after row of the panel contiguous.
///
/// Order of additions, in every lane and at every ISA level: the start value, then one fused
/// multiply-add (a single rounding) per k, k ascending.
namespace npu::simd {

inline constexpr int kGemmRows = 4;

/// Columns of a panel. 4 x 24 sums fill 12 of 16 registers, 4 x 64 in wider lanes 16 of 32, which
/// hides the latency of additions even where another thread shares the core. What is left over
/// takes the next one.
inline constexpr int kPanels[] = {kLanes == 16 ? 64 : 24, kLanes == 16 ? 32 : 16, 16};

/// kCols columns of a matrix: element (row, 8 * i + j) at groups[i][row * row_step + j].
template <class T, int kCols>
struct Columns {
  T* groups[kCols / 8];
  size_t row_step;
};

namespace detail {

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
  return value - V{};  // adding zeros would lose the sign of -0
}

/// kGemmRows x kVectors vectors of the product, from vector kFirst on; all sums in registers.
template <class In, int kVectors, int kFirst, class T, int kCols>
[[gnu::always_inline]] inline void MultiplyVectors(size_t depth, const T* a, size_t a_pitch,
                                                   const T* b, const Columns<const T, kCols>& start,
                                                   const Columns<T, kCols>& out, size_t first_row) {
  using M = Multiplier<In>;
  using V = typename M::Lanes;
  const auto at = [&](const auto& columns, int i) {
    const int col = (kFirst + i) * kLanes;
    return columns.groups[col / 8] + col % 8 + first_row * columns.row_step;
  };
  V sum[kGemmRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) {
#pragma GCC unroll 4
    for (int row = 0; row < kGemmRows; ++row) {
      sum[row][i] = LoadLanes<V>(at(start, i) + row * start.row_step);
    }
  }
  if (depth == 0) __builtin_unreachable();  // else the sums go through memory
#pragma GCC unroll 4
  for (size_t k = 0; k < depth; ++k) {
    V values[kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      values[i] = LoadLanes<V>(b + k * kCols + (kFirst + i) * kLanes);
    }
#pragma GCC unroll 4
    for (int row = 0; row < kGemmRows; ++row) {
      const V value = Broadcast<V>(a[row * a_pitch + k]);
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) sum[row][i] = M::Add(value, values[i], sum[row][i]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) {
#pragma GCC unroll 4
    for (int row = 0; row < kGemmRows; ++row) {
      std::memcpy(at(out, i) + row * out.row_step, &sum[row][i], sizeof(V));
    }
  }
}

}  // namespace detail

/// out = start + a * b for kGemmRows rows from first_row on and the kCols columns of the panel b;
/// depth is at least 1. out may be start.
template <class In, int kCols, class T>
[[gnu::noinline]] void MultiplyBlock(size_t depth, const T* a, size_t a_pitch, const T* b,
                                     const Columns<const T, kCols>& start,
                                     const Columns<T, kCols>& out, size_t first_row) {
  constexpr int kVectors = kCols / (kLanes < 8 ? 8 : kLanes);
  detail::MultiplyVectors<In, kVectors, 0>(depth, a, a_pitch, b, start, out, first_row);
  if constexpr (kLanes == 4) {
    detail::MultiplyVectors<In, kVectors, kVectors>(depth, a, a_pitch, b, start, out, first_row);
  }
}

/// What PackRun takes a multiple of.
template <class In>
inline constexpr size_t kPackStep = kLanes == 16 && !std::is_same_v<In, float> ? 16 : 8;

/// to[i] = from[i] in the type that is multiplied, for count elements, a multiple of kPackStep<In>.
template <class In, class T>
[[gnu::always_inline]] inline void PackRun(T* to, const In* from, size_t count) {
  using M = detail::Multiplier<In>;
  constexpr size_t kStep = std::is_same_v<In, float> ? 8 : kLanes;
  for (size_t i = 0; i < count; i += kStep) {
    if constexpr (std::is_same_v<In, T>) {
      std::memcpy(to + i, from + i, kStep * sizeof(T));
    } else {
      const typename M::Lanes lanes = M::Load(from + i);
      std::memcpy(to + i, &lanes, sizeof(lanes));
    }
  }
}

/// Elements that PackBlock takes from each column.
inline constexpr int kPackDepth = 8;

/// to[k][column] = column_of(column)[k] for kPackDepth values of k and kCols columns.
template <class In, int kCols, class T, class ColumnOf>
[[gnu::always_inline]] inline void PackBlock(T* to, const ColumnOf& column_of) {
  if constexpr (kIsHalf<In>) {
    In rows[kPackDepth * kCols];
#pragma GCC unroll 8
    for (int first = 0; first < kCols; first += 8) {
      TransposeRows<Uint16x8>([&](int i) { return column_of(first + i); },
                              [&](int i, const Uint16x8& lanes) {
                                std::memcpy(static_cast<void*>(rows + i * kCols + first), &lanes,
                                            sizeof(lanes));
                              });
    }
    PackRun(to, rows, kPackDepth * kCols);
  } else if constexpr (std::is_same_v<In, float>) {
    for (int k = 0; k < kPackDepth; k += 4) {
#pragma GCC unroll 6
      for (int first = 0; first < kCols; first += 4) {
        TransposeRows<Uint32x4>([&](int i) { return column_of(first + i) + k; },
                                [&](int i, const Uint32x4& lanes) {
                                  std::memcpy(to + (k + i) * kCols + first, &lanes, sizeof(lanes));
                                });
      }
    }
  } else {
    for (int column = 0; column < kCols; ++column) {
      const In* from = column_of(column);
      for (int k = 0; k < kPackDepth; ++k) to[k * kCols + column] = static_cast<T>(from[k]);
    }
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
