// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/instr/expand.hpp"

namespace pto {

/// The arithmetic forms of TROWEXPAND: dst[i, j] = f(src0[i, j], src1[i, j]), rounded once, where
/// one operand has the valid shape of dst and the other is repeated along each row: a ColMajor
/// column of values, or one block of 32 bytes per row of a RowMajor tile, element j taken from
/// column j modulo its valid columns.
///   dst, src0, src1  Vec tiles of one dtype: half, float (A5 also bfloat16); all but DIV and
///   EXPDIF also int16, int32 tmp_and_events   a scratch tile that the chip may need, not touched
///   here; then events to wait for
/// Pipe V. Source: PTO ISA, TROWEXPANDADD and its neighbours.

/// dst = src0 + src1.
template <class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDADD(Dst& dst, Src0& src0, Src1& src1,
                                                        Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDADD", detail::kLaneArithmetic, npu::simd::Add{}, dst, src0,
                         src1);
  npu::KeepCallSite();
  return {};
}

/// dst = src0 - src1.
template <class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDSUB(Dst& dst, Src0& src0, Src1& src1,
                                                        Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDSUB", detail::kLaneArithmetic, npu::simd::Sub{}, dst, src0,
                         src1);
  npu::KeepCallSite();
  return {};
}

/// dst = src0 * src1.
template <class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDMUL(Dst& dst, Src0& src0, Src1& src1,
                                                        Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDMUL", detail::kLaneArithmetic, npu::simd::Mul{}, dst, src0,
                         src1);
  npu::KeepCallSite();
  return {};
}

/// dst = src0 / src1.
template <auto kPrecision = 0, class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDDIV(Dst& dst, Src0& src0, Src1& src1,
                                                        Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDDIV", detail::kExpandFloat, npu::simd::Div{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst = larger of src0 and src1.
template <class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDMAX(Dst& dst, Src0& src0, Src1& src1,
                                                        Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDMAX", detail::kLaneArithmetic, npu::simd::Max{}, dst, src0,
                         src1);
  npu::KeepCallSite();
  return {};
}

/// dst = smaller of src0 and src1.
template <class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDMIN(Dst& dst, Src0& src0, Src1& src1,
                                                        Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDMIN", detail::kLaneArithmetic, npu::simd::Min{}, dst, src0,
                         src1);
  npu::KeepCallSite();
  return {};
}

/// dst = exp(src0 - src1), the difference rounded to the element type.
template <class Dst, class Src0, class Src1, class... Rest>
[[gnu::always_inline]] inline RecordEvent TROWEXPANDEXPDIF(Dst& dst, Src0& src0, Src1& src1,
                                                           Rest&... tmp_and_events) {
  detail::WaitEvents(tmp_and_events...);
  detail::ExpandRowsWith("TROWEXPANDEXPDIF", detail::kExpandFloat,
                         detail::ExpOfDifference<typename Dst::DType>{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// The arithmetic forms of TCOLEXPAND: dst[i, j] = f(src0[i, j], src1[0, j]), rounded once.
///   dst, src0, src1  Vec RowMajor tiles of one dtype, as above; src0 of the valid shape of dst,
///   src1 with its columns
/// Pipe V. Source: PTO ISA, TCOLEXPANDADD and its neighbours.

/// dst = src0 + src1.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDADD(Dst& dst, Src0& src0, Src1& src1,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDADD", detail::kLaneArithmetic, npu::simd::Add{}, dst, src0,
                            src1);
  npu::KeepCallSite();
  return {};
}

/// dst = src0 - src1.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDSUB(Dst& dst, Src0& src0, Src1& src1,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDSUB", detail::kLaneArithmetic, npu::simd::Sub{}, dst, src0,
                            src1);
  npu::KeepCallSite();
  return {};
}

/// dst = src0 * src1.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDMUL(Dst& dst, Src0& src0, Src1& src1,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDMUL", detail::kLaneArithmetic, npu::simd::Mul{}, dst, src0,
                            src1);
  npu::KeepCallSite();
  return {};
}

/// dst = src0 / src1.
template <auto kPrecision = 0, class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDDIV(Dst& dst, Src0& src0, Src1& src1,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDDIV", detail::kExpandFloat, npu::simd::Div{}, dst, src0,
                            src1);
  npu::KeepCallSite();
  return {};
}

/// dst = larger of src0 and src1.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDMAX(Dst& dst, Src0& src0, Src1& src1,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDMAX", detail::kLaneArithmetic, npu::simd::Max{}, dst, src0,
                            src1);
  npu::KeepCallSite();
  return {};
}

/// dst = smaller of src0 and src1.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDMIN(Dst& dst, Src0& src0, Src1& src1,
                                                        Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDMIN", detail::kLaneArithmetic, npu::simd::Min{}, dst, src0,
                            src1);
  npu::KeepCallSite();
  return {};
}

/// dst = exp(src0 - src1), the difference rounded to the element type.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TCOLEXPANDEXPDIF(Dst& dst, Src0& src0, Src1& src1,
                                                           Events&... events) {
  (events.Wait(), ...);
  detail::ExpandColumnsWith("TCOLEXPANDEXPDIF", detail::kExpandFloat,
                            detail::ExpOfDifference<typename Dst::DType>{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
