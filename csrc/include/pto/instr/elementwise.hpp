// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/simd.hpp"
#include "pto/check.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// dst[i, j] = f(src[i, j]...) over the valid region of dst, run by run; a dense region counts as
/// one run.
template <class F, class Dst, class... Src>
inline void MapTiles(const F& f, const Dst& dst, const Src&... src) {
  const auto to = LinesOf(dst);
  if constexpr (!Dst::isBoxedLayout) {
    static_assert(((!Src::isBoxedLayout && Src::isRowMajor == Dst::isRowMajor) && ...),
                  "expected tiles of one layout");
    if (to.length == Order<Dst>::kLength && ((to.length == Order<Src>::kLength) && ...)) {
      npu::simd::Map(f, to.length * to.count, to.data, LinesOf(src).data...);
      return;
    }
  } else {
    static_assert(((Src::BFractal == Dst::BFractal && Src::SFractal == Dst::SFractal &&
                    Order<Src>::kRun == Order<Dst>::kRun) &&
                   ...),
                  "expected tiles of one layout");
  }
  to.ForEachRun([&](size_t line, size_t at, size_t count) {
    npu::simd::Map(f, count, to(line, at), LinesOf(src)(line, at)...);
  });
}

/// An element-wise instruction of pipe V on tiles of one element type.
template <class F, class Dst, class... Src>
[[gnu::noinline]] void Elementwise(const char* name, TypeRule rule, F f, Dst& dst, Src&... src) {
  using T = typename Dst::DType;
  static_assert((std::is_same_v<T, typename Src::DType> && ...),
                "expected tiles of one element type");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(dst);
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst), Reads(src)...);
  };
  npu::Issue(name, npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckType<T>(core, name, rule);
    CheckTile(core, name, "dst", dst);
    [[maybe_unused]] int operand = 0;
    [[maybe_unused]] constexpr const char* kNames[] = {"src0", "src1", "src2"};
    ((CheckTile(core, name, kNames[operand], src),
      CheckSameValidShape(core, name, kNames[operand], dst, src), ++operand),
     ...);
    MapTiles(f, dst, src...);
  });
}

inline constexpr uint32_t kAllInts =
    kInt8 | kUint8 | kInt16 | kUint16 | kInt32 | kUint32 | kInt64 | kUint64;
inline constexpr TypeRule kArithmetic = {kInt16 | kInt32 | kHalf | kFloat,
                                         kAllInts | kHalf | kBfloat16 | kFloat};

}  // namespace detail

/// dst[i, j] = src0[i, j] + src1[i, j], rounded once to the element type; integers wrap.
///   dst, src0, src1  Vec tiles of one dtype and valid shape. A2/A3: half, float, int16, int32;
///                    A5 also bfloat16 and the other integers.
/// Pipe V. Source: PTO ISA, TADD.
template <class Dst, class Src0, class Src1, class... Events>
[[gnu::always_inline]] inline RecordEvent TADD(Dst& dst, Src0& src0, Src1& src1,
                                               Events&... events) {
  (events.Wait(), ...);
  detail::Elementwise("TADD", detail::kArithmetic, npu::simd::Add{}, dst, src0, src1);
  npu::KeepCallSite();
  return {};
}

/// dst[i, j] = scalar over the valid region of dst.
///   dst  Vec tile of 8, 16 or 32-bit elements
/// Pipe V. Source: PTO ISA, TEXPANDS.
template <class Dst, class... Events>
[[gnu::always_inline]] inline RecordEvent TEXPANDS(Dst& dst, typename Dst::DType scalar,
                                                   Events&... events) {
  constexpr uint32_t kUpTo32 = detail::kInt8 | detail::kUint8 | detail::kInt16 | detail::kUint16 |
                               detail::kInt32 | detail::kUint32 | detail::kHalf |
                               detail::kBfloat16 | detail::kFloat;
  (events.Wait(), ...);
  detail::Elementwise("TEXPANDS", {kUpTo32, kUpTo32},
                      npu::simd::Constant<typename Dst::DType>{scalar}, dst);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
