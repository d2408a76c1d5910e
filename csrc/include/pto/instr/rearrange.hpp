// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "npu/transpose.hpp"
#include "pto/check.hpp"
#include "pto/copy_tile.hpp"
#include "pto/instr/rearrange_conv.hpp"
#include "pto/instr/rearrange_conv_on_host.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// dst[j, i] = src[i, j] in square pieces, so that both sides stay in cache.
template <class Dst, class Src>
void TransposeTile(const Dst& dst, const Src& src) {
  using T = typename Dst::DType;
  constexpr size_t kPiece = 16, kSquare = 8;
  constexpr bool kBySquares = sizeof(T) > 1 && !Dst::isBoxedLayout && !Src::isBoxedLayout;
  const auto rows = static_cast<size_t>(std::clamp(src.GetValidRow(), 0, Src::Rows));
  const auto cols = static_cast<size_t>(std::clamp(src.GetValidCol(), 0, Src::Cols));
  size_t whole_rows = 0, whole_cols = 0;
  if constexpr (kBySquares) {
    whole_rows = rows / kSquare * kSquare;
    whole_cols = cols / kSquare * kSquare;
    for (size_t row = 0; row < whole_rows; row += kSquare) {
      for (size_t col = 0; col < whole_cols; col += kSquare) {
        npu::simd::TransposeSquare(dst.data() + col * Dst::Cols + row, Dst::Cols,
                                   src.data() + row * Src::Cols + col, Src::Cols);
      }
    }
  }
  for (size_t row = 0; row < rows; row += kPiece) {
    for (size_t col = 0; col < cols; col += kPiece) {
      for (size_t r = row; r < std::min(row + kPiece, rows); ++r) {
        const size_t first = r < whole_rows ? std::max(col, whole_cols) : col;
        for (size_t c = first; c < std::min(col + kPiece, cols); ++c)
          *ElementOf(dst, c, r) = *ElementOf(src, r, c);
      }
    }
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void Transpose(Dst& dst, Src& src) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TTRANS: expected tiles of one element type");
  static_assert(sizeof(T) <= 4, "TTRANS: expected elements of 8, 16 or 32 bits");
  static_assert(Src::isRowMajor && Dst::isRowMajor, "TTRANS: expected RowMajor tiles");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(src);
    report(npu::Work{lines.count * lines.length, 0, 0},
           StartAccess(dst, src.GetValidCol(), src.GetValidRow(), true), Reads(src));
  };
  npu::Issue("TTRANS", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, "TTRANS", "dst", dst);
    CheckTile(core, "TTRANS", "src", src);
    if (src.GetValidRow() > Dst::Cols || src.GetValidCol() > Dst::Rows) {
      npu::RaiseFault("TTRANS",
                      "a src whose valid region fits the transposed dst of " +
                          TileFacts::Extent(Dst::Rows, Dst::Cols),
                      TileFacts::Extent(src.GetValidRow(), src.GetValidCol()));
    }
    TransposeTile(dst, src);
  });
}

template <class Dst, class T>
[[gnu::noinline]] void CountUp(Dst& dst, T start, bool descending) {
  using D = typename Dst::DType;
  static_assert(Dst::Rows == 1, "TCI: expected a dst of one row");
  static_assert(std::is_integral_v<D> && (sizeof(D) == 2 || sizeof(D) == 4),
                "TCI: expected integers of 16 or 32 bits");
  const void* call_site = __builtin_return_address(0);
  const auto lines = LinesOf(dst);
  const auto operands = [&](auto report) { report(npu::Work{lines.length, 0, 0}, Writes(dst)); };
  npu::Issue("TCI", npu::Pipe::kS, call_site, operands, [&] {
    CheckTile(*npu::current_core, "TCI", "dst", dst);
    using U = std::make_unsigned_t<D>;
    for (size_t i = 0; i < lines.length; ++i) {
      const U step = static_cast<U>(i);
      dst.data()[i] =
          static_cast<D>(descending ? static_cast<U>(start) - step : static_cast<U>(start) + step);
    }
  });
}

}  // namespace detail

/// dst[j, i] = src[i, j] over the valid region of src.
///   dst, src  Vec RowMajor tiles of one dtype of 8, 16 or 32 bits;  tmp  scratch tile, not touched
///   here
/// Or ConvTiles of kind Vec, all of src: NCHW to NC1HWC0 or back, GNCHW to GNC1HWC0 or back, with
/// the channels of src filled up to whole C0 in memory; NC1HWC0 or GNC1HWC0 to FRACTAL_Z [C1HW, N1,
/// N0, C0], where groups of src lie N1 * N0 images apart, and what N lacks of it becomes 0 with
/// groups and stays without; NCDHW to FRACTAL_Z_3D, filled up with 0.
/// Pipe V. Source: PTO ISA, TTRANS.
template <class Dst, class Src, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TTRANS(Dst& dst, Src& src, Tmp&, Events&... events) {
  (events.Wait(), ...);
  if constexpr (is_conv_tile_v<Src>) {
    detail::TransposeConv(dst, src);
  } else {
    detail::Transpose(dst, src);
  }
  npu::KeepCallSite();
  return {};
}

/// dst[0, j] = start + j, or start - j with kDescending, over the valid columns; integers wrap.
///   dst  Vec tile of one row, 16 or 32-bit integers
/// Pipe S. Source: PTO ISA, TCI.
template <class Dst, class T, int kDescending, class... Events>
[[gnu::always_inline]] inline RecordEvent TCI(Dst& dst, T start, Events&... events) {
  (events.Wait(), ...);
  detail::CountUp(dst, start, kDescending != 0);
  npu::KeepCallSite();
  return {};
}

/// The same with a scratch tile, not touched here.
template <class Dst, class Tmp, class T, int kDescending, class... Events>
[[gnu::always_inline]] inline RecordEvent TCI(Dst& dst, T start, Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::CountUp(dst, start, kDescending != 0);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
