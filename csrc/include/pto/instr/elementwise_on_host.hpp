// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "npu/simd.hpp"
#include "pto/check.hpp"
#include "pto/layout.hpp"

/// Element-wise instructions on types that no chip has them for, in kernels that host code calls.
namespace pto::detail {

/// Whether elements of T go through float there: what no chip computes in rule.
template <class T>
constexpr bool GoesThroughFloat(TypeRule rule) {
  const bool is_number = (std::is_integral_v<T> && sizeof(T) <= 4) || npu::simd::kIsHalf<T>;
  return kForHost && is_number && ((rule.a3 | rule.a5) & kTypeBit<T>) == 0;
}

/// Type that they are computed in: that which holds them all.
template <class T>
using ThroughFloat = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 4, double, float>;

/// value as C converts it. Integers keep the low bits, as sums and products of theirs do; infinity
/// becomes their bound, NaN 0.
template <class T>
T FromFloat(ThroughFloat<T> value) {
  if constexpr (std::is_integral_v<T>) {
    if (value != value) return 0;
    using Limits = std::numeric_limits<T>;
    if (__builtin_isinf(value)) return value > 0 ? Limits::max() : Limits::lowest();
    return static_cast<T>(
        static_cast<int64_t>(std::clamp<ThroughFloat<T>>(value, -0x1p62, 0x1p62)));
  } else {
    return static_cast<T>(value);
  }
}

/// The first rows and columns of dst = f(src...) so, a piece at a time.
template <class F, class Dst, class... Src>
void MapThroughFloat(const F& f, size_t rows, size_t cols, const Dst& dst, const Src&... src) {
  constexpr size_t kPiece = 64;
  using T = typename Dst::DType;
  using C = ThroughFloat<T>;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; col += kPiece) {
      const size_t count = std::min(kPiece, cols - col);
      C out[kPiece], in[sizeof...(Src) + 1][kPiece];
      size_t operand = 0;
      const auto take = [&](const auto& tile) -> const C* {
        C* piece = in[operand++];
        for (size_t i = 0; i < count; ++i)
          piece[i] = static_cast<C>(*ElementOf(tile, row, col + i));
        return piece;
      };
      const auto pieces = std::tuple{take(src)...};
      std::apply([&](auto... piece) { npu::simd::Map(f, count, out, piece...); }, pieces);
      for (size_t i = 0; i < count; ++i) *ElementOf(dst, row, col + i) = FromFloat<T>(out[i]);
    }
  }
}

}  // namespace pto::detail
