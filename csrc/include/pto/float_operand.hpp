// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "npu/gemm.hpp"
#include "pto/layout.hpp"

/// Operands of products whose elements have 8 or 4 bits, as floats.
namespace pto::detail {

template <class T>
inline constexpr bool kIsOcpFloat8 =
    std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e5m2_t>;
template <class T>
inline constexpr bool kIsFloat8Type = kIsOcpFloat8<T> || std::is_same_v<T, hifloat8_t>;

/// The numbers of all codes.
struct CodeTable {
  float values[256];
};

template <class T>
constexpr CodeTable MakeCodeTable() {
  CodeTable table = {};
  constexpr npu::SmallFormat kFormat =
      std::is_same_v<T, float8_e4m3_t> ? npu::kE4m3Format : npu::kE5m2Format;
  for (uint32_t code = 0; code < 256; ++code) {
    if (std::is_same_v<T, hifloat8_t>) {
      table.values[code] = npu::DecodeHif8(static_cast<uint8_t>(code));
    } else {
      const float magnitude = npu::DecodeSmall(kFormat, code & 0x7f);
      table.values[code] = (code & 0x80) != 0 ? -magnitude : magnitude;
    }
  }
  return table;
}
template <class T>
inline constexpr CodeTable kCodeTable = MakeCodeTable<T>();

/// Element of a tile as a float.
template <class TileT>
inline float NumberAt(const TileT& tile, size_t row, size_t col) {
  using T = typename TileT::DType;
  if constexpr (kPacked<T> != 1) {
    constexpr bool kByRows = Order<TileT>::kLinesAreRows;
    const size_t at = kByRows ? col : row;
    const T* pair = kByRows ? ElementOf(tile, row, col / 2) : ElementOf(tile, row / 2, col);
    return pair->Get(static_cast<int>(at % 2));
  } else {
    return kCodeTable<T>.values[ElementOf(tile, row, col)->bits];
  }
}

/// Stands for the elements of such an operand.
struct FloatElement {};

struct NoScales {};

/// A tile, with one power of two for each 32 elements along the depth where it has scales.
template <class TileT, class Scales = NoScales>
struct FloatOperand {
  using DType = FloatElement;
  static constexpr size_t kShare = 32;

  const TileT& tile;
  const Scales* scales = nullptr;

  /// kDepthIsRow: the operand is b.
  template <bool kDepthIsRow>
  float At(size_t line, size_t k) const {
    const float value = kDepthIsRow ? NumberAt(tile, k, line) : NumberAt(tile, line, k);
    if constexpr (std::is_same_v<Scales, NoScales>) {
      return value;
    } else {
      const auto* scale =
          kDepthIsRow ? ElementOf(*scales, k / kShare, line) : ElementOf(*scales, line, k / kShare);
      return value * static_cast<float>(*scale);
    }
  }
};

/// The same as PackRows and PackColumns of the operands that are read as they are.
template <class T, class TileT, class Scales>
inline void PackRows(const FloatOperand<TileT, Scales>& a, size_t first_row, size_t rows,
                     size_t first_k, size_t depth, size_t pitch, T* to) {
  constexpr size_t kFill = npu::simd::kGemmRows;
  for (size_t row = 0; row < rows; ++row, to += pitch) {
    for (size_t k = 0; k < depth; ++k) {
      to[k] = a.template At<false>(first_row + row, first_k + k);
    }
  }
  std::fill_n(to, (kFill - rows % kFill) % kFill * pitch, T{});
}

/// Columns behind the extent of b are 0.
template <int kCols, class T, class TileT, class Scales>
inline void PackColumns(const FloatOperand<TileT, Scales>& b, size_t first_col, size_t first_k,
                        size_t depth, T* to) {
  for (size_t k = 0; k < depth; ++k) {
    for (size_t column = 0; column < kCols; ++column) {
      const size_t col = first_col + column;
      to[k * kCols + column] = col < TileT::Cols ? b.template At<true>(col, first_k + k) : T{};
    }
  }
}

}  // namespace pto::detail
