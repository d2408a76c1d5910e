// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/simd_fused.hpp"
#include "pto/instr/scalar.hpp"

namespace pto {

namespace detail {

template <class T>
inline npu::simd::MultiplyAdd<T> MultiplyAddFor(const char* op) {
  return {npu::RunningCore(op).arch->generation != npu::Generation::kA3};
}

/// dst = max(Op(src0, src1), 0) in the narrower type of dst.
template <class Op, class Dst, class Src0, class Src1>
[[gnu::noinline]] void RectifyTo(const char* name, Dst& dst, Src0& src0, Src1& src1) {
  using D = typename Dst::DType;
  using S = typename Src0::DType;
  static_assert(std::is_same_v<S, typename Src1::DType>, "expected sources of one element type");
  constexpr bool kToHalf = std::is_same_v<S, float> && std::is_same_v<D, half>;
  constexpr bool kHasSource = std::is_same_v<S, half> || std::is_same_v<S, int16_t>;
  static_assert(kToHalf || (kHasSource && std::is_same_v<D, int8_t>),
                "expected float to half, half to int8 or int16 to int8");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst), Writes(dst), Reads(src0), Reads(src1));
  };
  npu::Issue(name, npu::Pipe::kV, call_site, operands, [&] {
    const Computed region = CheckTiles(*npu::current_core, name, 0, true, dst, src0, src1);
    MapTiles(npu::simd::ReluTo<Op, D, S>{}, region, dst, src0, src1);
  });
}

template <class Dst, class Src0, class Src1>
[[gnu::noinline]] void AddDequantizeRelu(Dst& dst, Src0& src0, Src1& src1, float scale) {
  static_assert(std::is_same_v<typename Src0::DType, int32_t> &&
                    std::is_same_v<typename Src1::DType, int32_t> &&
                    std::is_same_v<typename Dst::DType, half>,
                "TADDDEQRELU: expected sources of int32 and dst of half");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) __attribute__((cold)) {
    report(ElementsOf(dst), Writes(dst), Reads(src0), Reads(src1));
  };
  npu::Issue("TADDDEQRELU", npu::Pipe::kV, call_site, operands, [&] {
    const Computed region = CheckTiles(*npu::current_core, "TADDDEQRELU", 0, true, dst, src0, src1);
    MapTiles(npu::simd::AddDequantizeRelu{scale}, region, dst, src0, src1);
  });
}

}  // namespace detail

/// dst[i, j] = src0[i, j] > 0 ? src0[i, j] : src0[i, j] * src1[i, j].
///   dst, src0, src1  Vec tiles of half or float with one valid shape
///   tmp              scratch tile that A2/A3 needs; not touched here
/// Pipe V. Source: PTO ISA, TPRELU.
template <class Dst, class Src0, class Src1, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TPRELU(Dst& dst, Src0& src0, Src1& src1, Tmp&,
                                                 Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TPRELU", npu::simd::ParametricRelu{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] * src1[i, j] + dst[i, j], product and sum each rounded to the element
/// type; float on A5 rounded once.
///   dst, src0, src1  Vec tiles of half or float with one valid shape
/// Pipe V. Source: PTO ISA, TMULADDDST.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TMULADDDST(Dst& dst, Src0& src0, Src1& src1,
                                                     Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>(
      "TMULADDDST", detail::MultiplyAddFor<typename Dst::DType>("TMULADDDST"), dst, src0, src1,
      dst);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] * dst[i, j] + src1[i, j], as TMULADDDST.
/// Pipe V. Source: PTO ISA, TFUSEDMULADD.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TFUSEDMULADD(Dst& dst, Src0& src0, Src1& src1,
                                                       Events&... events) {
  (events.Wait(), ...);
  using T = typename Dst::DType;
  detail::Elementwise<detail::kHalfOrFloat>(
      "TFUSEDMULADD", npu::simd::MultiplyThirdAdd<T>{detail::MultiplyAddFor<T>("TFUSEDMULADD")},
      dst, src0, src1, dst);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = max(src0[i, j] * dst[i, j] + src1[i, j], 0), as TMULADDDST; NaN stays.
/// Pipe V. Source: PTO ISA, TFUSEDMULADDRELU.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TFUSEDMULADDRELU(Dst& dst, Src0& src0, Src1& src1,
                                                           Events&... events) {
  (events.Wait(), ...);
  using T = typename Dst::DType;
  detail::Elementwise<detail::kHalfOrFloat>(
      "TFUSEDMULADDRELU",
      npu::simd::MultiplyThirdAddRelu<T>{detail::MultiplyAddFor<T>("TFUSEDMULADDRELU")}, dst, src0,
      src1, dst);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = max(src0[i, j] - src1[i, j], 0), rounded once; NaN stays.
///   dst, src0, src1  Vec tiles of half or float with one valid shape
/// Pipe V. Source: PTO ISA, TSUBRELU.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TSUBRELU(Dst& dst, Src0& src0, Src1& src1,
                                                   Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kHalfOrFloat>("TSUBRELU", npu::simd::SubRelu{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = max(src0[i, j] + src1[i, j], 0) in the type of dst: to nearest even, beyond its
/// range its largest value; NaN is 0 in int8. The sum is one of the sources' type: rounded, of
/// int16 it wraps.
///   dst         Vec tile without boxes, of half; of int8
///   src0, src1  Vec tiles of the layout and valid shape of dst, of float; of half or int16
/// Pipe V. Source: PTO ISA, TADDRELUCONV.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TADDRELUCONV(Dst& dst, Src0& src0, Src1& src1,
                                                       Events&... events) {
  (events.Wait(), ...);
  detail::RectifyTo<npu::simd::Add>("TADDRELUCONV", dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = max(src0[i, j] - src1[i, j], 0) in the type of dst, as TADDRELUCONV.
/// Pipe V. Source: PTO ISA, TSUBRELUCONV.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TSUBRELUCONV(Dst& dst, Src0& src0, Src1& src1,
                                                       Events&... events) {
  (events.Wait(), ...);
  detail::RectifyTo<npu::simd::Sub>("TSUBRELUCONV", dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = max((src0[i, j] + src1[i, j]) * scale, 0) in half, at most 65504. The sum wraps; in
/// float it is multiplied by 2^-17, scale and 2^17, each step rounded.
///   dst         Vec tile of half
///   src0, src1  Vec tiles of int32 with the layout and valid shape of dst. A2/A3 loses what they
///               hold; here they stay.
///   tmp         scratch tile that A2/A3 needs; not touched here
/// Pipe V. Source: PTO ISA, TADDDEQRELU.
template <class Dst, class Src0, class Src1, class Tmp, class... Events>
[[gnu::always_inline]] inline RecordEvent TADDDEQRELU(Dst& dst, Src0& src0, Src1& src1, float scale,
                                                      Tmp&, Events&... events) {
  (events.Wait(), ...);
  detail::AddDequantizeRelu(dst, src0, src1, scale);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] + src1[i, j] + src2[i, j], from left to right; half and bfloat16 in
/// float, rounded once; integers wrap. No chip has it: kernels that use it run here only.
///   dst, src0, src1, src2  Vec tiles of one dtype and valid shape, types as for TADD
/// Pipe V. Source: PTO ISA, TADDC.
template <class Dst, class Src0, class Src1, class Src2, class... Events>
[[gnu::always_inline]] inline RecordEvent TADDC(Dst& dst, Src0& src0, Src1& src1, Src2& src2,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>("TADDC", npu::simd::ThenAdd<npu::simd::Add>{}, dst, src0,
                                           src1, src2);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] - src1[i, j] + src2[i, j], as TADDC. No chip has it.
/// Source: PTO ISA, TSUBC.
template <class Dst, class Src0, class Src1, class Src2, class... Events>
[[gnu::always_inline]] inline RecordEvent TSUBC(Dst& dst, Src0& src0, Src1& src1, Src2& src2,
                                                Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>("TSUBC", npu::simd::ThenAdd<npu::simd::Sub>{}, dst, src0,
                                           src1, src2);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] + scalar + src1[i, j], as TADDC. No chip has it.
/// Source: PTO ISA, TADDSC.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TADDSC(Dst& dst, Src0& src0, typename Dst::DType scalar,
                                                 Src1& src1, Events&... events) {
  using C = npu::simd::Compute<typename Dst::DType>;
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>(
      "TADDSC", npu::simd::ScalarThenAdd<npu::simd::Add, C>{static_cast<C>(scalar)}, dst, src0,
      src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = src0[i, j] - scalar + src1[i, j], as TADDC. No chip has it.
/// Source: PTO ISA, TSUBSC.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TSUBSC(Dst& dst, Src0& src0, typename Dst::DType scalar,
                                                 Src1& src1, Events&... events) {
  using C = npu::simd::Compute<typename Dst::DType>;
  (events.Wait(), ...);
  detail::Elementwise<detail::kArithmetic>(
      "TSUBSC", npu::simd::ScalarThenAdd<npu::simd::Sub, C>{static_cast<C>(scalar)}, dst, src0,
      src1);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
