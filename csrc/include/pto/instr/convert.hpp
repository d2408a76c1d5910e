// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "npu/simd.hpp"
#include "pto/check.hpp"
#include "pto/instr/elementwise.hpp"
#include "pto/layout.hpp"

namespace pto {

namespace detail {

/// Largest finite half and bfloat16_t.
template <class T>
inline constexpr float kLargest = std::is_same_v<T, half> ? 65504.0f : 0x1.fep127f;

/// What a saturating conversion to T does before it rounds; NaN stays NaN.
template <class T>
struct Saturate {
  template <class Value>
  Value operator()(Value value) const {
    const Value high = Value{} + kLargest<T>;
    value = value > high ? high : value;
    return value < -high ? -high : value;
  }
};

template <class Dst, class Src>
[[gnu::noinline]] void Convert(Dst& dst, Src& src, RoundMode mode, SaturationMode saturation) {
  using D = typename Dst::DType;
  using S = typename Src::DType;
  static_assert(npu::simd::kIsHalf<D> || std::is_same_v<D, float>,
                "TCVT: expected dst of half, bfloat16 or float");
  static_assert(npu::simd::kIsHalf<S> || std::is_same_v<S, float>,
                "TCVT: expected src of half, bfloat16 or float");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(src);
    report(npu::Work{lines.count * lines.length, 0, 0}, Writes(dst), Reads(src));
  };
  npu::Issue("TCVT", npu::Pipe::kV, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, "TCVT", "dst", dst);
    CheckTile(core, "TCVT", "src", src);
    CheckSameValidShape(core, "TCVT", "src", dst, src);
    if (mode != RoundMode::CAST_NONE && mode != RoundMode::CAST_RINT) {
      npu::RaiseFault("TCVT", "round mode CAST_NONE (0) or CAST_RINT (1)",
                      std::to_string(static_cast<int>(mode)));
    }
    if (npu::simd::kIsHalf<D> && !std::is_same_v<D, S> && saturation == SaturationMode::ON) {
      MapTiles(Saturate<D>{}, dst, src);
    } else {
      MapTiles(npu::simd::Identity{}, dst, src);
    }
  });
}

}  // namespace detail

/// dst[i, j] = src[i, j] in the type of dst, rounded to nearest even.
///   dst, src    Vec tiles of half, bfloat16 or float with one valid shape
///   mode        CAST_NONE or CAST_RINT
///   saturation  ON: a value beyond the range of a 16-bit dst becomes its largest finite value;
///   OFF: infinity
/// Pipe V. Source: PTO ISA, TCVT.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode,
                                               SaturationMode saturation, Events&... events) {
  (events.Wait(), ...);
  detail::Convert(dst, src, mode, saturation);
  npu::KeepCallSite();
  return {};
}

/// The same with saturation, the default of A2/A3 for these types.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode,
                                               Events&... events) {
  return TCVT(dst, src, mode, SaturationMode::ON, events...);
}

}  // namespace pto
