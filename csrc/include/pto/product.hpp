// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "npu/gemm.hpp"
#include "pto/check.hpp"
#include "pto/float_operand.hpp"
#include "pto/layout.hpp"

/// How a product of tiles is computed: blocks of A and panels of B, packed.
namespace pto::detail {

// A block of A and a panel of B in the type that is multiplied: 64 and at most 32 KiB of stack.
inline constexpr size_t kBlockRows = 128;
inline constexpr size_t kBlockDepth = 128;

/// Rows first_row... and elements first_k... of a, zeros in the rows that fill up the last block.
template <class T, class Left>
inline void PackRows(const Left& a, size_t first_row, size_t rows, size_t first_k, size_t depth,
                     size_t pitch, T* to) {
  using In = typename Left::DType;
  using A = Order<Left>;
  constexpr size_t kFill = npu::simd::kGemmRows;
  const A order(a);
  for (size_t row = 0; row < rows; ++row, to += pitch) {
    if constexpr (A::kLinesAreRows && A::kRun % npu::simd::kPackStep<In> == 0) {
      const In* run = a.data() + order.Offset(first_row + row, first_k);
      for (size_t k = 0; k < depth; k += A::kRun, run += order.RunStep()) {
        npu::simd::PackRun(to + k, run, std::min(A::kRun, pitch - k));
      }
    } else {
      for (size_t k = 0; k < depth; ++k) {
        to[k] = static_cast<T>(*ElementOf(a, first_row + row, first_k + k));
      }
    }
  }
  std::fill_n(to, (kFill - rows % kFill) % kFill * pitch, T{});
}

/// kCols columns from first_col on and rows first_k... of b.
template <int kCols, class T, class Right>
inline void PackColumns(const Right& b, size_t first_col, size_t first_k, size_t depth, T* to) {
  using In = typename Right::DType;
  using B = Order<Right>;
  constexpr size_t kDepth = npu::simd::kPackDepth;
  if constexpr (!B::kLinesAreRows && B::kRun % kDepth == 0) {
    const B order(b);
    const In* columns[kCols];
    for (size_t column = 0; column < kCols; ++column) {
      columns[column] = b.data() + order.Offset(first_col + column, first_k);
    }
    for (size_t k = 0; k < depth; k += kDepth) {
      const size_t at = k / B::kRun * order.RunStep() + k % B::kRun;
      npu::simd::PackBlock<In, kCols>(to + k * kCols,
                                      [&](size_t column) { return columns[column] + at; });
    }
  } else {
    for (size_t k = 0; k < depth; ++k) {
      for (size_t column = 0; column < kCols; ++column) {
        to[k * kCols + column] = static_cast<T>(*ElementOf(b, first_k + k, first_col + column));
      }
    }
  }
}

/// A matrix in boxes of 16 columns.
template <class T>
struct Boxed {
  static constexpr size_t kCols = 16;

  T* data;
  size_t box_step;
  size_t row_step;

  /// Columns from first on, a multiple of 8.
  template <int kCount>
  npu::simd::Columns<T, kCount> ColumnsFrom(size_t first) const {
    npu::simd::Columns<T, kCount> columns = {{}, row_step};
    for (auto& group : columns.groups) {
      group = data + first / kCols * box_step + first % kCols;
      first += 8;
    }
    return columns;
  }
};

/// rows x cols elements of a block of the product, through a copy: what lies outside of them in
/// memory is neither read nor written.
template <class In, class T, int kCols>
inline void MultiplyRest(size_t depth, const T* a, size_t pitch, const T* b,
                         const npu::simd::Columns<const T, kCols>& start,
                         const npu::simd::Columns<T, kCols>& out, size_t first_row, size_t rows,
                         size_t cols) {
  T sums[npu::simd::kGemmRows * kCols] = {};
  const Boxed<T> copy = {sums, Boxed<T>::kCols, kCols};
  const auto transfer = [&](const auto& from, size_t from_row, const auto& to, size_t to_row) {
    for (size_t row = 0; row < rows; ++row) {
      for (size_t group = 0; group * 8 < cols; ++group) {
        std::copy_n(from.groups[group] + (from_row + row) * from.row_step,
                    std::min<size_t>(8, cols - group * 8),
                    to.groups[group] + (to_row + row) * to.row_step);
      }
    }
  };
  const auto columns = copy.template ColumnsFrom<kCols>(0);
  transfer(start, first_row, columns, 0);
  const Boxed<const T> begin = {sums, Boxed<T>::kCols, kCols};
  npu::simd::MultiplyBlock<In>(depth, a, pitch, b, begin.template ColumnsFrom<kCols>(0), columns,
                               0);
  transfer(columns, 0, out, first_row);
}

template <class Acc, class Left, class Right>
struct Product {
  using In = typename Left::DType;
  using T = typename Acc::DType;
  using Sums = Boxed<T>;
  using Start = Boxed<const T>;

  const Acc& c;
  const Left& a;
  const Right& b;
  size_t m, k, n;

  /// What the core does to float operands.
  static void Shorten(T* data, size_t count) {
    if constexpr (std::is_same_v<In, float>) {
      const npu::Core& core = *npu::current_core;
      if (__builtin_expect(core.tf32 == npu::Tf32::kOff, 1)) return;
      const int bits = core.arch->generation == npu::Generation::kA3 ? 11 : 10;
      npu::simd::ShortenMantissa(data, count, bits, core.tf32 == npu::Tf32::kTiesEven);
    }
  }

  static constexpr size_t PitchOf(size_t depth) {
    constexpr size_t kStep = npu::simd::kPackStep<In>;
    return (depth + kStep - 1) / kStep * kStep;
  }

  /// rows of a_block, which starts at first_row, times kCols columns, or less of the last panel.
  template <int kCols>
  void Panel(const Start& start, const Sums& sums, const T* a_block, size_t first_row, size_t rows,
             size_t first_k, size_t depth, size_t first_col) const {
    constexpr size_t kRows = npu::simd::kGemmRows;
    alignas(64) T b_panel[kBlockDepth * kCols];
    PackColumns<kCols>(b, first_col, first_k, depth, b_panel);
    Shorten(b_panel, depth * kCols);
    const size_t pitch = PitchOf(depth);
    const size_t cols = std::min<size_t>(kCols, n - first_col);
    const auto from = start.template ColumnsFrom<kCols>(first_col);
    const auto to = sums.template ColumnsFrom<kCols>(first_col);
    for (size_t row = 0; row < rows; row += kRows) {
      const T* a_rows = a_block + row * pitch;
      if (cols == kCols && rows - row >= kRows) {
        npu::simd::MultiplyBlock<In>(depth, a_rows, pitch, b_panel, from, to, first_row + row);
      } else {
        MultiplyRest<In>(depth, a_rows, pitch, b_panel, from, to, first_row + row,
                         std::min(kRows, rows - row), cols);
      }
    }
  }

  template <int kIndex>
  using PanelOf = std::integral_constant<int, npu::simd::kPanels[kIndex]>;

  /// The columns that whole panels cover, up to whole boxes.
  template <int kIndex>
  size_t WholePanels() const {
    constexpr size_t kPanel = PanelOf<kIndex>::value;
    constexpr size_t kBoxes = kPanel % Sums::kCols == 0 ? kPanel : 2 * kPanel;
    return n / kBoxes * kBoxes;
  }

  [[gnu::noinline]] void Run(Start start) const {
    const Sums sums = {c.data(), Order<Acc>(c).Lines() * Sums::kCols, Sums::kCols};
    alignas(64) T a_block[kBlockRows * kBlockDepth];
    for (size_t first_k = 0; first_k < k; first_k += kBlockDepth) {
      const size_t depth = std::min(kBlockDepth, k - first_k);
      for (size_t row = 0; row < m; row += kBlockRows) {
        const size_t rows = std::min(kBlockRows, m - row);
        PackRows(a, row, rows, first_k, depth, PitchOf(depth), a_block);
        Shorten(a_block, rows * PitchOf(depth));
        size_t col = 0;
        const auto panels = [&](auto cols, size_t end) {
          for (; col < end; col += cols) {
            Panel<cols>(start, sums, a_block, row, rows, first_k, depth, col);
          }
        };
        panels(PanelOf<0>(), WholePanels<0>());
        panels(PanelOf<1>(), WholePanels<1>());
        panels(PanelOf<2>(), n);
      }
      start = {sums.data, sums.box_step, sums.row_step};
    }
  }
};

}  // namespace pto::detail
