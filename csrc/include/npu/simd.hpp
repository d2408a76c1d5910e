// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "npu/half.hpp"
#include "npu/simd_lanes.hpp"

/// Loops over contiguous elements, on the compiler's vector types: no intrinsics header, which
/// would cost a JIT compile a second.
namespace npu::simd {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

/// Elements that are computed in lanes of float; those of other types one by one, which the
/// compiler vectorises.
template <class T>
inline constexpr bool kIsFloatLane = kIsHalf<T> || std::is_same_v<T, float>;

/// Type in which an element of type T is computed: float for the 16-bit floats, whose result is
/// then rounded once.
template <class T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

namespace detail {

#if NPU_LANES == 16
/// What builtins for 512 bits take: a mask of lanes, and the rounding that the processor is set to.
inline constexpr uint16_t kAllLanes = 0xffff;
inline constexpr int kDefaultRounding = 4;
#endif

/// Lanes of a where mask is all ones, else of b.
[[gnu::always_inline]] inline Uint Select(Uint mask, Uint a, Uint b) {
  return (mask & a) | (~mask & b);
}

/// a > b ? a : b and a < b ? a : b: b where either is NaN.
[[gnu::always_inline]] inline Float MaxLanes(Float a, Float b) {
#if NPU_LANES == 16
  return __builtin_ia32_maxps512_mask(a, b, a, kAllLanes, kDefaultRounding);
#elif defined(__AVX__)
  return __builtin_ia32_maxps256(a, b);
#elif defined(__SSE2__)
  return __builtin_ia32_maxps(a, b);
#else
  return a > b ? a : b;
#endif
}

[[gnu::always_inline]] inline Float MinLanes(Float a, Float b) {
#if NPU_LANES == 16
  return __builtin_ia32_minps512_mask(a, b, a, kAllLanes, kDefaultRounding);
#elif defined(__AVX__)
  return __builtin_ia32_minps256(a, b);
#elif defined(__SSE2__)
  return __builtin_ia32_minps(a, b);
#else
  return a < b ? a : b;
#endif
}

/// a * b + c, rounded once. Levels without such an instruction call the exact fma of the C library
/// lane by lane, which is slow.
[[gnu::always_inline]] inline Float FusedMultiplyAdd(Float a, Float b, Float c) {
#if NPU_LANES == 16
  return __builtin_ia32_vfmaddps512_mask(a, b, c, kAllLanes, kDefaultRounding);
#elif defined(__FMA__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps256(a, b, c);
#else
  Float sum;
  for (int lane = 0; lane < kLanes; ++lane) {
    sum[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  }
  return sum;
#endif
}

/// One bit per lane.
[[gnu::always_inline]] inline unsigned BitsOfLanes(Int mask) {
#if NPU_LANES == 16
  return static_cast<uint16_t>(__builtin_ia32_cvtd2mask512(mask));
#elif defined(__AVX__)
  return static_cast<unsigned>(__builtin_ia32_movmskps256((Float)mask));
#elif defined(__SSE2__)
  return static_cast<unsigned>(__builtin_ia32_movmskps((Float)mask));
#else
  unsigned bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) bits |= (mask[lane] & 1u) << lane;
  return bits;
#endif
}

[[gnu::always_inline]] inline Float WidenHalf(Uint16 half_bits) {
#if NPU_LANES == 16
  return (Float)__builtin_ia32_vcvtph2ps512_mask((short __attribute__((vector_size(32))))half_bits,
                                                 Float{}, kAllLanes, kDefaultRounding);
#elif defined(__F16C__) && !defined(__clang__)
  return (Float)__builtin_ia32_vcvtph2ps256((short __attribute__((vector_size(16))))half_bits);
#else
  const Uint bits = __builtin_convertvector(half_bits, Uint);
  const Uint sign = (bits & 0x8000u) << 16;
  const Uint magnitude = bits & 0x7fffu;
  const Uint normal = (magnitude << 13) + (112u << 23);
  const Uint special =
      (magnitude << 13) | (255u << 23) |
      Select((Uint)(magnitude > 0x7c00u), Uint{} + 0x400000u, Uint{});  // quiet NaN
  const Uint subnormal = (Uint)(__builtin_convertvector((Int)magnitude, Float) * 0x1p-24f);
  Uint wide = Select((Uint)(magnitude >= 0x7c00u), special, normal);
  wide = Select((Uint)(magnitude < 0x400u), subnormal, wide);
  return (Float)(wide | sign);
#endif
}

[[gnu::always_inline]] inline Uint16 NarrowHalf(Float value) {
#if NPU_LANES == 16
  using Short = short __attribute__((vector_size(32)));
  return (Uint16)__builtin_ia32_vcvtps2ph512_mask(value, 0, Short{}, kAllLanes);  // to nearest even
#elif defined(__F16C__) && !defined(__clang__)
  return (Uint16)__builtin_ia32_vcvtps2ph256(value, 0);  // 0: to nearest even
#else
  const Uint bits = (Uint)value;
  const Uint sign = (bits >> 16) & 0x8000u;
  const Uint magnitude = bits & 0x7fffffffu;
  // Normal results: add half a unit less one, plus the parity of the last kept bit; a carry moves
  // the exponent.
  const Uint normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14 a float addition rounds to multiples of 2^-24, which are the subnormal steps.
  const Uint subnormal = (Uint)((Float)magnitude + 0.5f) - (126u << 23);
  const Uint nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  Uint narrow = Select((Uint)(magnitude < (113u << 23)), subnormal, normal);
  narrow = Select((Uint)(magnitude >= 0x477ff000u), Uint{} + 0x7c00u, narrow);  // 65520 and above
  narrow = Select((Uint)(magnitude > 0x7f800000u), nan, narrow);
  return __builtin_convertvector(narrow | sign, Uint16);
#endif
}

[[gnu::always_inline]] inline Float WidenBfloat16(Uint16 bits) {
#if NPU_LANES == 8 && defined(__AVX2__) && !defined(__clang__)
  using Short = short __attribute__((vector_size(16)));
  // GCC widens the halves one by one, and joins them.
  return (Float)((Uint)__builtin_ia32_pmovzxwd256((Short)bits) << 16);
#else
  return (Float)(__builtin_convertvector(bits, Uint) << 16);
#endif
}

[[gnu::always_inline]] inline Uint16 NarrowBfloat16(Float value) {
  const Uint bits = (Uint)value;
  const Uint rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const Uint quiet = bits | 0x400000u;
  const Uint wide = value != value ? quiet : rounded;
  return __builtin_convertvector(wide >> 16, Uint16);
}

}  // namespace detail

/// kLanes elements at from, as floats.
template <class T>
[[gnu::always_inline]] inline Float LoadFloat(const T* from) {
  if constexpr (kIsHalf<T>) {
    Uint16 bits;
    std::memcpy(&bits, from, sizeof(bits));
    if constexpr (std::is_same_v<T, half>) return detail::WidenHalf(bits);
    return detail::WidenBfloat16(bits);
  } else {
    static_assert(std::is_same_v<T, float>, "LoadFloat reads half, bfloat16_t and float");
    Float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
}

/// Stores kLanes floats at to, each rounded to nearest even.
template <class T>
[[gnu::always_inline]] inline void StoreFloat(T* to, Float value) {
  if constexpr (kIsHalf<T>) {
    Uint16 bits;
    if constexpr (std::is_same_v<T, half>) {
      bits = detail::NarrowHalf(value);
    } else {
      bits = detail::NarrowBfloat16(value);
    }
    std::memcpy(to, &bits, sizeof(bits));
  } else {
    static_assert(std::is_same_v<T, float>, "StoreFloat writes half, bfloat16_t and float");
    std::memcpy(to, &value, sizeof(value));
  }
}

/// kLanes elements at from, as lanes of the same width.
template <class T>
struct LanesOf;
template <>
struct LanesOf<int8_t> {
  using Type = int8_t __attribute__((vector_size(kLanes)));
};
template <>
struct LanesOf<uint8_t> {
  using Type = uint8_t __attribute__((vector_size(kLanes)));
};
template <>
struct LanesOf<int16_t> {
  using Type = int16_t __attribute__((vector_size(2 * kLanes)));
};
template <>
struct LanesOf<uint16_t> {
  using Type = Uint16;
};
template <>
struct LanesOf<int32_t> {
  using Type = Int;
};
template <>
struct LanesOf<uint32_t> {
  using Type = Uint;
};

/// kLanes integers at from.
template <class T>
[[gnu::always_inline]] inline typename LanesOf<T>::Type LoadInt(const T* from) {
  typename LanesOf<T>::Type value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Stores the low bits of kLanes integers at to.
template <class T>
[[gnu::always_inline]] inline void StoreInt(T* to, Int value) {
  const auto narrow = __builtin_convertvector(value, typename LanesOf<T>::Type);
  std::memcpy(to, &narrow, sizeof(narrow));
}

namespace detail {

/// Lanes of To at to: floats, rounded, the bits of 16-bit floats, or integers, cut.
template <class To, class V>
[[gnu::always_inline]] inline void StoreLanes(To* to, V value) {
  if constexpr (std::is_same_v<V, Float>)
    StoreFloat(to, value);
  else if constexpr (std::is_same_v<V, Uint16>)
    std::memcpy(to, &value, sizeof(value));
  else
    StoreInt(to, value);
}

/// kLanes elements at from as floats; integers of 16 bits or less exactly, others to nearest even.
template <class T>
[[gnu::always_inline]] inline Float LoadAsFloat(const T* from) {
  if constexpr (kIsFloatLane<T>)
    return LoadFloat(from);
  else
    return __builtin_convertvector(LoadInt(from), Float);
}

/// to[i] = f(from[i]...) for kLanes elements.
template <class F, class To, class... From>
[[gnu::always_inline]] inline void MapLanes(const F& f, To* to, const From*... from) {
  StoreLanes(to, f(LoadAsFloat(from)...));
}

/// The same for the last count < kLanes elements: same code, same bits.
template <class F, class To, class... From>
[[gnu::noinline]] void MapTail(const F& f, size_t count, To* to, const From*... from) {
  To result[kLanes];
  MapLanes(f, result, Padded<From>(from, count).lanes...);
  CopyFirst(to, result, count);
}

}  // namespace detail

/// to[i] = f(from[i]...) for i < count, in lanes. to may equal a source of the same element size.
template <class F, class To, class... From>
inline void MapInLanes(const F& f, size_t count, To* to, const From*... from) {
  const F g = f;  // which stores at to cannot change
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) detail::MapLanes(g, to + i, from + i...);
  if (i < count) detail::MapTail(g, count - i, to + i, from + i...);
}

/// True if F works on lanes only, whatever the element types: it has a member kInLanes.
template <class F, class = void>
inline constexpr bool kWorksInLanes = false;
template <class F>
inline constexpr bool kWorksInLanes<F, std::void_t<decltype(F::kInLanes)>> = true;

/// True if F works on bits: it has a member kOnBits.
template <class F, class = void>
inline constexpr bool kWorksOnBits = false;
template <class F>
inline constexpr bool kWorksOnBits<F, std::void_t<decltype(F::kOnBits)>> = true;

/// Unsigned integer of so many bytes.
template <size_t kBytes>
using UintOf = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

/// Type that F takes elements of type T as: unsigned integers for floats whose bits it works on.
template <class F, class T>
using Taken = std::conditional_t<kWorksOnBits<F> && !std::is_integral_v<T>, UintOf<sizeof(T)>, T>;

/// to[i] = f(from[i]...) for i < count. f works on Float where all elements are floats of at most
/// 32 bits or it works in lanes only, else on scalars; to may equal a source. 16-bit floats are
/// computed in float and rounded once.
template <class F, class To, class... From>
inline void Map(const F& f, size_t count, To* to, const From*... from) {
  if constexpr (kWorksInLanes<F> || (kIsFloatLane<To> && (kIsFloatLane<From> && ...))) {
    MapInLanes(f, count, to, from...);
  } else {
#pragma GCC ivdep
    for (size_t i = 0; i < count; ++i) to[i] = f(from[i]...);
  }
}

struct Identity {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

/// Fills: a function of no operand.
template <class T>
struct Constant {
  T value;
  T operator()() const { return value; }
};

/// to[i] = f() for i < count.
template <class T>
inline void Map(const Constant<T>& f, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) to[i] = f.value;
}

}  // namespace npu::simd
