// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "npu/gemm.hpp"
#include "pto/check.hpp"
#include "pto/float_operand.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

// A block of A and a panel of B in the type that is multiplied: 64 and 12 KiB of the stack.
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
    if constexpr (A::kLinesAreRows && A::kRun % npu::simd::kPackDepth == 0) {
      for (size_t k = 0; k < depth; k += A::kRun) {
        const In* run = a.data() + order.Offset(first_row + row, first_k + k);
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
    for (size_t k = 0; k < depth; k += kDepth) {
      npu::simd::PackBlock<In, kCols>(to + k * kCols, [&](size_t column) {
        return b.data() + order.Offset(first_col + column, first_k + k);
      });
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

  static constexpr size_t PitchOf(size_t depth) { return (depth + 7) / 8 * 8; }

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

  [[gnu::noinline]] void Run(Start start) const {
    const Sums sums = {c.data(), Order<Acc>(c).Lines() * Sums::kCols, Sums::kCols};
    // Two wide panels cover three boxes.
    constexpr size_t kWide = npu::simd::kWidePanel, kNarrow = npu::simd::kPanel;
    const size_t wide_cols = n / (2 * kWide) * (2 * kWide);
    alignas(64) T a_block[kBlockRows * kBlockDepth];
    for (size_t first_k = 0; first_k < k; first_k += kBlockDepth) {
      const size_t depth = std::min(kBlockDepth, k - first_k);
      for (size_t row = 0; row < m; row += kBlockRows) {
        const size_t rows = std::min(kBlockRows, m - row);
        PackRows(a, row, rows, first_k, depth, PitchOf(depth), a_block);
        Shorten(a_block, rows * PitchOf(depth));
        const auto panel = [&](auto cols, size_t first_col) {
          Panel<cols>(start, sums, a_block, row, rows, first_k, depth, first_col);
        };
        size_t col = 0;
        for (; col < wide_cols; col += kWide) panel(std::integral_constant<int, kWide>(), col);
        for (; col < n; col += kNarrow) panel(std::integral_constant<int, kNarrow>(), col);
      }
      start = {sums.data, sums.box_step, sums.row_step};
    }
  }
};

NPU_ONE_BODY(NPU_RAISES void RaiseProduct(const char* op, const char* operand,
                                          const TileFacts& tile, int64_t rows, int64_t cols)) {
  const npu::Text valid = TileFacts::Extent(tile.valid_rows, tile.valid_cols);
  npu::RaiseFault(op, npu::Text(operand) + " of at least " + TileFacts::Extent(rows, cols),
                  tile.kind->is_compact
                      ? "a compact " + tile.Describe() + " with " + valid + " valid elements"
                      : "a " + tile.Describe());
}

/// Faults unless tile holds rows x cols elements.
template <class TileT>
inline void CheckHolds(const char* op, const char* operand, const TileT& tile, int rows, int cols) {
  const Extent held = ExtentOf(tile);
  const auto holds = [](size_t extent, int count) { return static_cast<int>(extent) >= count; };
  if (__builtin_expect(holds(held.rows, rows) && holds(held.cols, cols), 1)) return;
  RaiseProduct(op, operand, TileFacts(tile), rows, cols);
}

NPU_ONE_BODY(NPU_RAISES void RaiseProductSize(const char* op, int m, int k, int n)) {
  npu::RaiseFault(op, "m, k and n of at most 4095",
                  npu::TextOf(m) + ", " + npu::TextOf(k) + " and " + npu::TextOf(n));
}

template <class Acc, class Left, class Right>
constexpr void CheckProductTypes() {
  using T = typename Acc::DType;
  using In = typename Left::DType;
  static_assert(std::is_same_v<In, typename Right::DType> ||
                    (kIsOcpFloat8<In> && kIsOcpFloat8<typename Right::DType>),
                "expected a and b of one element type, or of float8_e4m3 and float8_e5m2");
  constexpr bool kIsFloat8 = kIsFloat8Type<In>;
  static_assert((std::is_same_v<T, int32_t> && std::is_same_v<In, int8_t>) ||
                    (std::is_same_v<T, float> &&
                     (std::is_same_v<In, half> || std::is_same_v<In, bfloat16_t> ||
                      std::is_same_v<In, float> || kIsFloat8)),
                "expected int32 from int8, or float from half, bfloat16, float, float8_e4m3 and "
                "float8_e5m2, or hifloat8");
  static_assert(
      Acc::Loc == TileType::Acc && Left::Loc == TileType::Left && Right::Loc == TileType::Right,
      "expected an Acc, a Left and a Right tile");
  static_assert(Acc::isBoxedLayout && !Acc::isRowMajor && Acc::isInnerRowMajor &&
                    Order<Acc>::kRun == Boxed<T>::kCols,
                "expected an Acc tile of layout NZ with boxes of 16 columns");
}

enum class StartFrom : uint8_t { kZero, kAcc, kBias };

/// m, k and n of a product.
struct ProductSize {
  int m, k, n;
};

template <class Acc, class Left, class Right>
inline void CheckProduct(const npu::Core& core, const char* op, ProductSize size, const Acc& c,
                         const Left& a, const Right& b) {
  CheckTile(core, op, "c", c);
  CheckTile(core, op, "a", a);
  CheckTile(core, op, "b", b);
  const bool fits = size.m <= 4095 && size.k <= 4095 && size.n <= 4095;
  if (__builtin_expect(!fits && core.check_limits, 0)) {
    RaiseProductSize(op, size.m, size.k, size.n);
  }
  CheckHolds(op, "c", c, size.m, size.n);
  CheckHolds(op, "a", a, size.m, size.k);
  CheckHolds(op, "b", b, size.k, size.n);
}

/// Where the sums start: in first, an accumulator or a bias, or at 0.
template <StartFrom kStart, class First>
inline Boxed<const typename First::DType> StartOf(const npu::Core& core, const char* op,
                                                  const First& first, ProductSize size) {
  using T = typename First::DType;
  constexpr size_t kBox = Boxed<T>::kCols;
  static constexpr T kZeros[kBox] = {};
  if constexpr (kStart == StartFrom::kZero) {
    return {kZeros, 0, 0};
  } else if constexpr (kStart == StartFrom::kAcc) {
    CheckTile(core, op, "the accumulator", first);
    CheckHolds(op, "the accumulator", first, size.m, size.n);
    return {first.data(), Order<First>(first).Lines() * kBox, kBox};
  } else {
    CheckTile(core, op, "the bias", first);
    CheckHolds(op, "the bias", first, 1, size.n);
    return {first.data(), kBox, 0};
  }
}

template <class Acc, class Left, class Right, class Start>
inline void RunProduct(ProductSize size, const Acc& c, const Left& a, const Right& b,
                       const Start& start) {
  if (size.m <= 0 || size.k <= 0 || size.n <= 0) return;
  const Product<Acc, Left, Right> product = {c,
                                             a,
                                             b,
                                             static_cast<size_t>(size.m),
                                             static_cast<size_t>(size.k),
                                             static_cast<size_t>(size.n)};
  product.Run(start);
}

/// c = start + a * b; first is what the sums start from, c itself where that is 0.
template <StartFrom kStart, bool kGemv, class Acc, class First, class Left, class Right>
[[gnu::noinline]] void Multiply(const char* op, Acc& c, First& first, Left& a, Right& b) {
  const void* call_site = __builtin_return_address(0);
  CheckProductTypes<Acc, Left, Right>();
  static_assert(std::is_same_v<typename Acc::DType, typename First::DType>,
                "expected an accumulator or bias of the element type of c");
  const ProductSize size = {kGemv ? 1 : a.GetValidRow(), kGemv ? b.GetValidRow() : a.GetValidCol(),
                            b.GetValidCol()};
  const auto operands = [&](auto report) {
    const auto area = static_cast<uint64_t>(size.m) * static_cast<uint64_t>(size.n);
    const npu::Work work = {area, 0, area * static_cast<uint64_t>(size.k)};
    if constexpr (kStart == StartFrom::kZero) {
      report(work, Writes(c), Reads(a), Reads(b));
    } else {
      report(work, Writes(c), Reads(first), Reads(a), Reads(b));
    }
  };
  npu::Issue(op, npu::Pipe::kM, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckProduct(core, op, size, c, a, b);
    const auto start = StartOf<kStart>(core, op, first, size);
    if constexpr (kIsFloat8Type<typename Left::DType>) {
      constexpr uint32_t kTypes = kE4m3 | kE5m2 | kHif8;
      CheckType<typename Left::DType>(core, op, {0, kTypes});
      const FloatOperand<Left> left = {a};
      const FloatOperand<Right> right = {b};
      RunProduct(size, c, left, right, start);
    } else {
      RunProduct(size, c, a, b, start);
    }
  });
}

}  // namespace detail

/// c = a * b.
///   a  Left tile of m x k valid elements, in either order of boxes
///   b  Right tile, k x n;  m, k, n up to 4095
///   c  Acc tile: int32 from int8, float from half, bfloat16 or float; A5 also from float8_e4m3 and
///      float8_e5m2, of which a and b may differ, or hifloat8
/// Each element of c is the start value (0), to which a[m, k] * b[k, n] is added for k ascending
/// with one rounding per step (fused multiply-add), so the bits do not depend on the machine; int32
/// wraps. kPhase of the unit flag changes nothing.
/// Pipe M. Source: PTO ISA, TMATMUL.
template <class Acc, class Left, class Right, class... Events>
[[gnu::always_inline]] inline RecordEvent TMATMUL(Acc& c, Left& a, Right& b, Events&... events) {
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kZero, false>("TMATMUL", c, c, a, b);
  npu::KeepCallSite();
  return {};
}
template <AccPhase kPhase, class Acc, class Left, class Right, class... Events>
[[gnu::always_inline]] inline RecordEvent TMATMUL(Acc& c, Left& a, Right& b, Events&... events) {
  return TMATMUL(c, a, b, events...);
}

/// c_out = c_in + a * b, the sums starting from c_in. Pipe M. Source: PTO ISA, TMATMUL_ACC.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right,
          class... Events>
[[gnu::always_inline]] inline std::enable_if_t<Right::Loc == TileType::Right, RecordEvent>
TMATMUL_ACC(Acc& c_out, Acc& c_in, Left& a, Right& b, Events&... events) {
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kAcc, false>("TMATMUL_ACC", c_out, c_in, a, b);
  npu::KeepCallSite();
  return {};
}
/// The same with c_in = c_out.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right,
          class... Events>
[[gnu::always_inline]] inline std::enable_if_t<Right::Loc == TileType::Right, RecordEvent>
TMATMUL_ACC(Acc& c, Left& a, Right& b, Events&... events) {
  return TMATMUL_ACC<kPhase>(c, c, a, b, events...);
}

/// c = bias + a * b, the sums of column n starting from bias[0, n].
///   bias  Bias tile of the element type of c
/// Pipe M. Source: PTO ISA, TMATMUL_BIAS.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right, class Bias,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TMATMUL_BIAS(Acc& c, Left& a, Right& b, Bias& bias,
                                                       Events&... events) {
  static_assert(Bias::Loc == TileType::Bias && Bias::Rows == 1,
                "TMATMUL_BIAS: expected a Bias tile of one row");
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kBias, false>("TMATMUL_BIAS", c, bias, a, b);
  npu::KeepCallSite();
  return {};
}

/// TMATMUL for m = 1; k and n are the valid region of b. Pipe M. Source: PTO ISA, TGEMV.
template <class Acc, class Left, class Right, class... Events>
[[gnu::always_inline]] inline RecordEvent TGEMV(Acc& c, Left& a, Right& b, Events&... events) {
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kZero, true>("TGEMV", c, c, a, b);
  npu::KeepCallSite();
  return {};
}
template <AccPhase kPhase, class Acc, class Left, class Right, class... Events>
[[gnu::always_inline]] inline RecordEvent TGEMV(Acc& c, Left& a, Right& b, Events&... events) {
  return TGEMV(c, a, b, events...);
}

/// c_out = c_in + a * b for m = 1.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TGEMV_ACC(Acc& c_out, Acc& c_in, Left& a, Right& b,
                                                    Events&... events) {
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kAcc, true>("TGEMV_ACC", c_out, c_in, a, b);
  npu::KeepCallSite();
  return {};
}

/// c = bias + a * b for m = 1.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right, class Bias,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TGEMV_BIAS(Acc& c, Left& a, Right& b, Bias& bias,
                                                     Events&... events) {
  static_assert(Bias::Loc == TileType::Bias && Bias::Rows == 1,
                "TGEMV_BIAS: expected a Bias tile of one row");
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kBias, true>("TGEMV_BIAS", c, bias, a, b);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
