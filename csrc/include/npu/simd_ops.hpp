// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "npu/simd.hpp"

/// Operations on one element each: on lanes of float and on scalars.
namespace npu::simd {

namespace detail {

template <class T, bool kIsInteger>
struct WrapType {
  using Type = T;
};
template <class T>
struct WrapType<T, true> {
  using Type = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
};

}  // namespace detail

/// Type in which values of type T are added and multiplied. Integers wrap, as on the chip; in C++
/// only unsigned ones may, and 16-bit ones only if they are not promoted to int.
template <class T>
using Wrap = typename detail::WrapType<T, std::is_integral_v<T>>::Type;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};

struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
  }
};

struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
};

/// Quotient; of integers towards zero, and where there is none the bound nearest to the infinite
/// one (0 for 0 / 0).
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      constexpr T kMax = std::numeric_limits<T>::max(), kMin = std::numeric_limits<T>::min();
      if (b == 0) return a == 0 ? T{0} : a > 0 ? kMax : kMin;
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return a == kMin ? kMax : -a;
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

/// The greater one; NaN if either is; of two zeros the second.
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return a > b ? a : b;
    else if constexpr (std::is_same_v<T, Float>)
      return a != a ? a : detail::MaxLanes(a, b);
    else
      return a > b || a != a ? a : b;
  }
};

struct Min {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return a < b ? a : b;
    else if constexpr (std::is_same_v<T, Float>)
      return a != a ? a : detail::MinLanes(a, b);
    else
      return a < b || a != a ? a : b;
  }
};

/// These take floats for the integers that have their bits.
struct And {
  static constexpr bool kOnBits = true;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct Or {
  static constexpr bool kOnBits = true;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  static constexpr bool kOnBits = true;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

/// Shifts by b bits. A count that is negative or not below the width shifts all bits out.
struct Shl {
  template <class T>
  T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    constexpr U kBits = 8 * sizeof(T);
    return static_cast<U>(b) < kBits ? static_cast<T>(static_cast<Wrap<T>>(a) << b) : T{0};
  }
};

struct Shr {
  template <class T>
  T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    constexpr U kBits = 8 * sizeof(T);
    const U count = static_cast<U>(b) < kBits ? static_cast<U>(b) : kBits - 1;
    const T shifted = static_cast<T>(a >> count);
    return std::is_unsigned_v<T> && static_cast<U>(b) >= kBits ? T{0} : shifted;
  }
};

struct Not {
  static constexpr bool kOnBits = true;
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

struct Neg {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return Sub{}(T{0}, a);
    else
      return -a;
  }
};

/// Clears the sign, of NaN too; the least integer wraps to itself.
struct Abs {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, Float>)
      return (Float)((Uint)a & 0x7fffffffu);
    else if constexpr (std::is_floating_point_v<T>)
      return __builtin_fabs(a);
    else
      return a < 0 ? Neg{}(a) : a;
  }
};

/// max(a, 0); NaN stays.
struct Relu {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return a > 0 ? a : T{0};
    else
      return Max{}(a, T{});
  }
};

/// Lanes that all hold value, or value itself.
template <class T, class C>
[[gnu::always_inline]] inline T Splat(C value) {
  if constexpr (std::is_same_v<T, Float>)
    return value - Float{};  // adding would lose -0.0
  else
    return value;
}

/// a > 0 ? a : a * slope.
template <class C>
struct LeakyRelu {
  C slope;
  template <class T>
  T operator()(T a) const {
    return a > 0 ? a : a * Splat<T>(slope);
  }
};

/// Op with a scalar as its second (first) operand.
template <class Op, class C>
struct WithSecond {
  C scalar;
  template <class T>
  T operator()(T a) const {
    return Op{}(a, Splat<T>(scalar));
  }
};

template <class Op, class C>
struct WithFirst {
  C scalar;
  template <class T>
  T operator()(T a) const {
    return Op{}(Splat<T>(scalar), a);
  }
};

}  // namespace npu::simd
