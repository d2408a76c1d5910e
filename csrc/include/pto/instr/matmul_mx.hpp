// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/instr/assign.hpp"
#include "pto/instr/matmul.hpp"

/// Products of block floating point operands: one power of two for each 32 elements of the depth.
namespace pto {

namespace detail {

template <class T>
inline constexpr bool kIsFloat4 = kPacked<T> != 1;

template <class Acc, class Left, class LeftScale, class Right, class RightScale>
constexpr void CheckMxTypes() {
  using A = typename Left::DType;
  using B = typename Right::DType;
  static_assert((kIsOcpFloat8<A> && kIsOcpFloat8<B>) || (kIsFloat4<A> && kIsFloat4<B>),
                "expected a and b of float8_e4m3 and float8_e5m2, or of float4_e2m1x2 and "
                "float4_e1m2x2");
  static_assert(std::is_same_v<typename Acc::DType, float>, "expected c of float");
  static_assert(std::is_same_v<typename LeftScale::DType, float8_e8m0_t> &&
                    std::is_same_v<typename RightScale::DType, float8_e8m0_t>,
                "expected scales of float8_e8m0");
  static_assert(
      Acc::Loc == TileType::Acc && Left::Loc == TileType::Left && Right::Loc == TileType::Right,
      "expected an Acc, a Left and a Right tile");
  static_assert(LeftScale::Loc == TileType::ScaleLeft && RightScale::Loc == TileType::ScaleRight,
                "expected a ScaleLeft and a ScaleRight tile");
  static_assert(Left::Cols % 64 == 0, "expected a with Cols of a multiple of 64");
  static_assert(Acc::isBoxedLayout && !Acc::isRowMajor && Acc::isInnerRowMajor &&
                    Order<Acc>::kRun == Boxed<float>::kCols,
                "expected an Acc tile of layout NZ with boxes of 16 columns");
}

NPU_ONE_BODY(void CheckScaleAddress(const npu::Core& core, const char* op, const char* operand,
                                    const TileFacts& scales, const TileFacts& tile)) {
  if (!core.check_limits) return;
  const uint64_t expected = OffsetInSpace(core, tile.data) >> 4;
  const uint64_t got = OffsetInSpace(core, scales.data);
  if (__builtin_expect(expected == got, 1)) return;
  npu::RaiseFault(op,
                  npu::Text(operand) + " at address " + npu::TextOf(expected) +
                      " (1/16 of that of the operand)",
                  npu::TextOf(got));
}

NPU_ONE_BODY(NPU_RAISES void RaiseMxSize(const char* op, const char* operand, const TileFacts& tile,
                                         int64_t rows, int64_t cols)) {
  npu::RaiseFault(op, npu::Text(operand) + " of at least " + TileFacts::Extent(rows, cols),
                  "a " + tile.Describe());
}

/// Faults unless the extent of tile is at least rows x cols elements.
template <class TileT>
inline void CheckMxSize(const char* op, const char* operand, const TileT& tile, int rows,
                        int cols) {
  const Extent held = ExtentOf(tile);
  const bool fits = StoredRows<TileT>(rows) <= static_cast<int>(held.rows) &&
                    StoredCols<TileT>(cols) <= static_cast<int>(held.cols);
  if (__builtin_expect(!fits, 0)) RaiseMxSize(op, operand, TileFacts(tile), rows, cols);
}

template <class Acc, class Left, class LeftScale, class Right, class RightScale>
inline void CheckMx(const npu::Core& core, const char* op, ProductSize size, const Acc& c,
                    const Left& a, const LeftScale& a_scale, const Right& b,
                    const RightScale& b_scale) {
  using A = typename Left::DType;
  constexpr uint32_t kTypes = kE4m3 | kE5m2 | kE2m1x2 | kE1m2x2;
  CheckType<A>(core, op, {0, kTypes});
  CheckTile(core, op, "c", c);
  CheckTile(core, op, "a", a);
  CheckTile(core, op, "a_scale", a_scale);
  CheckTile(core, op, "b", b);
  CheckTile(core, op, "b_scale", b_scale);
  CheckScaleAddress(core, op, "a_scale", TileFacts(a_scale), TileFacts(a));
  CheckScaleAddress(core, op, "b_scale", TileFacts(b_scale), TileFacts(b));
  const bool fits = size.m <= 4095 && size.k <= 4095 && size.n <= 4095;
  if (__builtin_expect(!fits && core.check_limits, 0)) {
    RaiseProductSize(op, size.m, size.k, size.n);
  }
  const int shares = (size.k + 31) / 32;
  CheckHolds(op, "c", c, size.m, size.n);
  CheckMxSize(op, "a", a, size.m, size.k);
  CheckMxSize(op, "a_scale", a_scale, size.m, shares);
  CheckMxSize(op, "b", b, size.k, size.n);
  CheckMxSize(op, "b_scale", b_scale, shares, size.n);
}

/// c = start + (a * scales) * (b * scales).
template <StartFrom kStart, bool kGemv, class Acc, class First, class Left, class LeftScale,
          class Right, class RightScale>
[[gnu::noinline]] void MultiplyMx(const char* op, Acc& c, First& first, Left& a, LeftScale& a_scale,
                                  Right& b, RightScale& b_scale) {
  const void* call_site = __builtin_return_address(0);
  CheckMxTypes<Acc, Left, LeftScale, Right, RightScale>();
  static_assert(std::is_same_v<float, typename First::DType>,
                "expected an accumulator or bias of float");
  const ProductSize size = {kGemv && !kForHost ? 1 : a.GetValidRow(), a.GetValidCol(),
                            b.GetValidCol()};
  const auto operands = [&](auto report) {
    const auto area = static_cast<uint64_t>(size.m) * static_cast<uint64_t>(size.n);
    const npu::Work work = {area, 0, area * static_cast<uint64_t>(size.k)};
    const auto [m, k, n] = size;
    const bool is_empty = m <= 0 || k <= 0 || n <= 0;
    if (is_empty) return report(work);
    const int shares = (k + 31) / 32;
    report(work, StartAccess(c, m, n, true), ReadsStart<kStart>(first, size),
           StartAccess(a, StoredRows<Left>(m), StoredCols<Left>(k), false),
           StartAccess(a_scale, m, shares, false),
           StartAccess(b, StoredRows<Right>(k), StoredCols<Right>(n), false),
           StartAccess(b_scale, shares, n, false));
  };
  npu::Issue(op, npu::Pipe::kM, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckMx(core, op, size, c, a, a_scale, b, b_scale);
    const auto start = StartOf<kStart>(core, op, first, size);
    const FloatOperand<Left, LeftScale> left = {a, &a_scale};
    const FloatOperand<Right, RightScale> right = {b, &b_scale};
    RunProduct(size, c, left, right, start);
  });
}

template <class TileT>
inline constexpr bool kIsLeft = TileT::Loc == TileType::Left;

}  // namespace detail

/// c = a * b with scales: the sum over k of a[m, k] * 2^a_scale[m, k / 32] * b[k, n] *
/// 2^b_scale[k / 32, n], k ascending, with one rounding per step as in TMATMUL.
///   a, b     Left and Right tiles of float8_e4m3 and float8_e5m2, or of float4_e2m1x2 and
///            float4_e1m2x2, which may differ; Cols of a are a multiple of 64
///   a_scale, b_scale  ScaleLeft and ScaleRight tiles of float8_e8m0, at 1/16 of the addresses of a
///            and b
///   c        Acc tile of float
/// On A5 alone. Pipe M. Source: PTO ISA, TMATMUL_MX.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class LeftScale,
          class Right, class RightScale, class... Events,
          std::enable_if_t<detail::kIsLeft<Left> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMATMUL_MX(Acc& c, Left& a, LeftScale& a_scale, Right& b,
                                                     RightScale& b_scale, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  (events.Wait(), ...);
  detail::MultiplyMx<detail::StartFrom::kZero, false>("TMATMUL_MX", c, c, a, a_scale, b, b_scale);
  npu::KeepCallSite();
  return {};
}

/// The same from c_in on.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class LeftScale,
          class Right, class RightScale, class... Events,
          std::enable_if_t<detail::kIsLeft<Left>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMATMUL_MX(Acc& c_out, Acc& c_in, Left& a,
                                                     LeftScale& a_scale, Right& b,
                                                     RightScale& b_scale, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  (events.Wait(), ...);
  detail::MultiplyMx<detail::StartFrom::kAcc, false>("TMATMUL_MX", c_out, c_in, a, a_scale, b,
                                                     b_scale);
  npu::KeepCallSite();
  return {};
}

/// The same from a Bias tile of float on.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class LeftScale,
          class Right, class RightScale, class Bias, class... Events,
          std::enable_if_t<detail::kIsLeft<Left> && is_tile_data_v<Bias>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TMATMUL_MX(Acc& c, Left& a, LeftScale& a_scale, Right& b,
                                                     RightScale& b_scale, Bias& bias,
                                                     Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  static_assert(Bias::Loc == TileType::Bias && Bias::Rows == 1,
                "TMATMUL_MX: expected a Bias tile of one row");
  (events.Wait(), ...);
  detail::MultiplyMx<detail::StartFrom::kBias, false>("TMATMUL_MX", c, bias, a, a_scale, b,
                                                      b_scale);
  npu::KeepCallSite();
  return {};
}

/// TMATMUL_MX for m = 1. On A5 alone. Source: PTO ISA, TGEMV_MX.
template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class LeftScale,
          class Right, class RightScale, class... Events,
          std::enable_if_t<detail::kIsLeft<Left> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGEMV_MX(Acc& c, Left& a, LeftScale& a_scale, Right& b,
                                                   RightScale& b_scale, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  (events.Wait(), ...);
  detail::MultiplyMx<detail::StartFrom::kZero, true>("TGEMV_MX", c, c, a, a_scale, b, b_scale);
  npu::KeepCallSite();
  return {};
}

template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class LeftScale,
          class Right, class RightScale, class... Events,
          std::enable_if_t<detail::kIsLeft<Left>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGEMV_MX(Acc& c_out, Acc& c_in, Left& a,
                                                   LeftScale& a_scale, Right& b,
                                                   RightScale& b_scale, Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  (events.Wait(), ...);
  detail::MultiplyMx<detail::StartFrom::kAcc, true>("TGEMV_MX", c_out, c_in, a, a_scale, b,
                                                    b_scale);
  npu::KeepCallSite();
  return {};
}

template <AccPhase kPhase = AccPhase::Unspecified, class Acc, class Left, class LeftScale,
          class Right, class RightScale, class Bias, class... Events,
          std::enable_if_t<detail::kIsLeft<Left> && is_tile_data_v<Bias>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGEMV_MX(Acc& c, Left& a, LeftScale& a_scale, Right& b,
                                                   RightScale& b_scale, Bias& bias,
                                                   Events&... events) {
  detail::TakeUnitFlag<kPhase>();
  static_assert(Bias::Loc == TileType::Bias && Bias::Rows == 1,
                "TGEMV_MX: expected a Bias tile of one row");
  (events.Wait(), ...);
  detail::MultiplyMx<detail::StartFrom::kBias, true>("TGEMV_MX", c, bias, a, a_scale, b, b_scale);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
