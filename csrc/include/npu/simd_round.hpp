// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "npu/simd.hpp"

/// Conversions that round as told.
namespace npu::simd {

enum class Rounding : uint8_t {
  kNearestEven,
  kNearestAway,  // ties away from zero
  kDown,
  kUp,
  kToZero,
  kToOdd,  // what is not exact takes the neighbour whose last bit is set (von Neumann)
};

namespace detail {

[[gnu::always_inline]] inline Float Magnitude(Float a) { return (Float)((Uint)a & 0x7fffffffu); }

/// Lanes of all ones where mode, one of the directed ones, rounds a away from zero.
[[gnu::always_inline]] inline Uint RoundsAway(Float a, Rounding mode) {
  const Uint negative = (Uint)((Int)a >> 31);
  if (mode == Rounding::kDown) return negative;
  return mode == Rounding::kUp ? ~negative : Uint{};
}

/// The magnitude that rounding to an integer gives size, the magnitude of a; below 2^23.
[[gnu::always_inline]] inline Float RoundMagnitude(Float a, Float size, Rounding mode) {
  constexpr float kShift = 0x1p23f;  // from here on floats are integers: adding it rounds
  const Float nearest = (size + kShift) - kShift;
  if (mode == Rounding::kNearestEven) return nearest;
  const Float one = Float{} + 1.0f;
  if (mode == Rounding::kNearestAway) return size - nearest == 0.5f ? nearest + one : nearest;
  if (mode == Rounding::kToOdd) {
    const Float cut = nearest > size ? nearest - one : nearest;
    const Float half = cut * 0.5f;
    const Int is_even = (half + kShift) - kShift == half;
    return (cut != size) & is_even ? cut + one : cut;
  }
  const Int away = (Int)RoundsAway(a, mode);
  const Float not_below = (nearest < size) & away ? nearest + one : nearest;
  return (nearest > size) & ~away ? not_below - one : not_below;
}

}  // namespace detail

/// a rounded to an integer; the sign stays, infinities and NaN too.
struct RoundToIntegral {
  static constexpr bool kInLanes = true;
  Rounding mode;

  [[gnu::always_inline]] Float operator()(Float a) const {
    const Float size = detail::Magnitude(a);
    const Float rounded = detail::RoundMagnitude(a, size, mode);
    const Float magnitude = size < 0x1p23f ? rounded : size;
    return (Float)((Uint)magnitude | ((Uint)a & 0x80000000u));
  }
};

/// a cut to [-bound, bound]; NaN stays.
struct Clamp {
  static constexpr bool kInLanes = true;
  float bound;

  [[gnu::always_inline]] Float operator()(Float a) const {
    const Float high = Float{} + bound;
    return detail::MaxLanes(-high, detail::MinLanes(high, a));
  }
};

/// a cut to [-bound, bound], in T, a 16-bit float.
template <class T>
struct NarrowTo {
  static constexpr bool kInLanes = true;
  Rounding mode;
  float bound;

  [[gnu::always_inline]] static Float Widen(Uint bits) {
    const Uint16 narrow = __builtin_convertvector(bits, Uint16);
    if constexpr (std::is_same_v<T, half>)
      return detail::WidenHalf(narrow);
    else
      return detail::WidenBfloat16(narrow);
  }

  [[gnu::always_inline]] Uint16 operator()(Float value) const {
    const Float a = Clamp{bound}(value);
    Uint16 narrow;
    if constexpr (std::is_same_v<T, half>)
      narrow = detail::NarrowHalf(a);
    else
      narrow = detail::NarrowBfloat16(a);
    // From the nearest one on: a step in the bits is a step in the magnitude, up to infinity.
    Uint bits = __builtin_convertvector(narrow, Uint);
    const Float size = detail::Magnitude(a), nearest = detail::Magnitude(Widen(bits));
    const Uint above = (Uint)(nearest > size), below = (Uint)(nearest < size);
    if (mode == Rounding::kNearestAway) {
      const Float next = detail::Magnitude(Widen(bits + 1u));
      bits += below & (Uint)(next - size == size - nearest) & 1u;
    } else if (mode == Rounding::kToOdd) {
      bits = (bits - (above & 1u)) | ((above | below) & 1u);
    } else if (mode != Rounding::kNearestEven) {
      const Uint away = detail::RoundsAway(a, mode);
      bits = bits - (above & ~away & 1u) + (below & away & 1u);
    }
    return __builtin_convertvector(bits, Uint16);
  }
};

/// a rounded to an integer of at most 32 bits, NaN to 0. Beyond [low, high]: the nearer bound if it
/// saturates, else the low bits of the 64-bit integer nearest to a.
struct ToInt {
  static constexpr bool kInLanes = true;
  Rounding mode;
  bool saturates;
  float low, high;  // 2^31 stands for 2^31 - 1

  template <class T>
  static ToInt Of(Rounding mode, bool saturates) {
    static_assert(sizeof(T) < 4 || std::is_same_v<T, int32_t>, "no float of 24 bits ends uint32");
    return {mode, saturates, static_cast<float>(std::numeric_limits<T>::min()),
            static_cast<float>(std::numeric_limits<T>::max())};
  }

  [[gnu::always_inline]] Int operator()(Float value) const {
    const Float rounded = RoundToIntegral{mode}(value);
    const Float a = rounded == rounded ? rounded : Float{};
    if (saturates) return Saturated(a);
    const Int is_far = detail::Magnitude(a) >= 0x1p31f;
    if (__builtin_expect(detail::BitsOfLanes(is_far) != 0, 0)) return LowBits(a);
    return __builtin_convertvector(a, Int);
  }

  [[gnu::always_inline]] Int Saturated(Float a) const {
    const Float cut = detail::MaxLanes(Float{} + low, detail::MinLanes(Float{} + high, a));
    const Int ends = cut >= 0x1p31f;
    const Float within = ends ? Float{} : cut;
    return ends ? Int{} + INT32_MAX : __builtin_convertvector(within, Int);
  }

  /// Lanes of a modulo 2^16, exact.
  [[gnu::always_inline]] static Float Low16(Float a) {
    const Float multiple = RoundToIntegral{Rounding::kDown}(a * 0x1p-16f) * 0x1p16f;
    const Float rest = a - multiple;
    return rest == rest ? rest : Float{};  // of infinity
  }

  [[gnu::noinline]] static Int LowBits(Float a) {
    const Float low = Low16(a);
    const Float high = Low16((a - low) * 0x1p-16f);
    const Int bits = (__builtin_convertvector(high, Int) << 16) | __builtin_convertvector(low, Int);
    return a >= 0x1p63f ? Int{} - 1 : bits;
  }
};

/// a rounded to a 64-bit integer, the nearer bound where there is none, NaN to 0.
struct ToInt64 {
  Rounding mode;

  int64_t operator()(float a) const {
    const float rounded = RoundToIntegral{mode}(Float{} + a)[0];
    if (rounded != rounded) return 0;
    if (rounded >= 0x1p63f) return INT64_MAX;
    return rounded < -0x1p63f ? INT64_MIN : static_cast<int64_t>(rounded);
  }
};

/// The integer a as a float.
struct IntToFloat {
  Rounding mode;

  float operator()(int64_t a) const {
    const float nearest = static_cast<float>(a);
    if (mode == Rounding::kNearestEven) return nearest;
    const __int128 error = static_cast<__int128>(nearest) - a;
    const bool above = a < 0 ? error < 0 : error > 0, below = !above && error != 0;
    if (mode == Rounding::kNearestAway) {
      const float next = Step(nearest, 1);
      return below && static_cast<__int128>(next) - a == -error ? next : nearest;
    }
    if (mode == Rounding::kToOdd) {
      const float cut = above ? Step(nearest, -1) : nearest;
      return error != 0 && (BitsOf(cut) & 1) == 0 ? Step(cut, 1) : cut;
    }
    const bool away = mode == (a < 0 ? Rounding::kDown : Rounding::kUp);
    if (above && !away) return Step(nearest, -1);
    return below && away ? Step(nearest, 1) : nearest;
  }

 private:
  static uint32_t BitsOf(float a) {
    uint32_t bits;
    std::memcpy(&bits, &a, sizeof(bits));
    return bits;
  }
  /// The neighbour of a whose magnitude is greater (1) or less (-1).
  static float Step(float a, int step) {
    const uint32_t bits = BitsOf(a) + static_cast<uint32_t>(step);
    std::memcpy(&a, &bits, sizeof(a));
    return a;
  }
};

/// The integer a in To: beyond its range the nearer bound if it saturates, else the low bits.
template <class To>
struct IntToInt {
  bool saturates;

  template <class From>
  To operator()(From a) const {
    constexpr auto kMin = static_cast<int64_t>(std::numeric_limits<To>::min());
    constexpr auto kMax = static_cast<int64_t>(std::numeric_limits<To>::max());
    const auto wide = static_cast<int64_t>(a);
    if (!saturates) return static_cast<To>(wide);
    return static_cast<To>(wide < kMin ? kMin : wide > kMax ? kMax : wide);
  }
};

}  // namespace npu::simd
