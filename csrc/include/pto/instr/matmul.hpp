// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/inner_flags.hpp"
#include "pto/product.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(NPU_RAISES void RaiseProduct(const char* op, const char* operand,
                                          const TileFacts& tile, int64_t rows, int64_t cols)) {
  const npu::Text valid = TileFacts::Extent(tile.valid_rows, tile.valid_cols);
  npu::RaiseFault(op, npu::Text(operand) + " of at least " + TileFacts::Extent(rows, cols),
                  tile.kind->is_compact
                      ? "a compact " + tile.Describe() + " with " + valid + " valid elements"
                      : "a " + tile.Describe());
}

/// Faults unless tile holds rows x cols elements, and an accumulator also within its space.
template <class TileT>
inline void CheckHolds(const char* op, const char* operand, const TileT& tile, int rows, int cols) {
  const Extent held = ExtentOf(tile);
  const auto holds = [](size_t extent, int count) { return static_cast<int>(extent) >= count; };
  if (__builtin_expect(!holds(held.rows, rows) || !holds(held.cols, cols), 0)) {
    RaiseProduct(op, operand, TileFacts(tile), rows, cols);
  }
  if constexpr (TileT::Loc == TileType::Acc) {
    if (rows <= 0 || cols <= 0) return;
    CheckEnds(*npu::current_core, op, operand, TileFacts(tile), static_cast<size_t>(rows),
              static_cast<size_t>(cols));
  }
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

/// What is read of it, for observers.
template <StartFrom kStart, class First>
inline npu::AccessList ReadsStart(const First& first, ProductSize size) {
  if (kStart == StartFrom::kZero) return {};
  return StartAccess(first, kStart == StartFrom::kAcc ? size.m : 1, size.n, false);
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
  constexpr bool kOneRow = kGemv && !kForHost;  // programs for simulators have more
  const ProductSize size = {kOneRow ? 1 : a.GetValidRow(),
                            kOneRow ? b.GetValidRow() : a.GetValidCol(), b.GetValidCol()};
  const auto operands = [&](auto report) {
    const auto area = static_cast<uint64_t>(size.m) * static_cast<uint64_t>(size.n);
    const npu::Work work = {area, 0, area * static_cast<uint64_t>(size.k)};
    const auto [m, k, n] = size;
    const bool is_empty = m <= 0 || k <= 0 || n <= 0;
    if (is_empty) return report(work);
    report(work, StartAccess(c, m, n, true), ReadsStart<kStart>(first, size),
           StartAccess(a, m, k, false), StartAccess(b, k, n, false));
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
/// wraps. kPhase Final sets the unit flag of c; with any phase the product waits until a move of
/// phase Final has cleared it.
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
  detail::TakeUnitFlag<kPhase>();
  return TMATMUL(c, a, b, events...);
}

/// c_out = c_in + a * b, the sums starting from c_in. Pipe M. Source: PTO ISA, TMATMUL_ACC.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right,
          class... Events>
[[gnu::always_inline]] inline std::enable_if_t<Right::Loc == TileType::Right, RecordEvent>
TMATMUL_ACC(Acc& c_out, Acc& c_in, Left& a, Right& b, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
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
  detail::TakeUnitFlag<kPhase>();
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
  detail::TakeUnitFlag<kPhase>();
  return TGEMV(c, a, b, events...);
}

/// c_out = c_in + a * b for m = 1.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class Right,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TGEMV_ACC(Acc& c_out, Acc& c_in, Left& a, Right& b,
                                                    Events&... events) {
  detail::TakeUnitFlag<kPhase>();
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
  detail::TakeUnitFlag<kPhase>();
  static_assert(Bias::Loc == TileType::Bias && Bias::Rows == 1,
                "TGEMV_BIAS: expected a Bias tile of one row");
  (events.Wait(), ...);
  detail::Multiply<detail::StartFrom::kBias, true>("TGEMV_BIAS", c, bias, a, b);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
