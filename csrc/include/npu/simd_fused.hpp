// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "npu/simd_ops.hpp"
#include "npu/simd_reduce.hpp"
#include "npu/simd_round.hpp"

/// Several operations in one.
namespace npu::simd {

/// a * b + c in E: product and sum are rounded apart, of float at once where is_fused.
template <class E>
struct MultiplyAdd {
  bool is_fused;

  template <class T>
  T operator()(T a, T b, T c) const {
    if constexpr (!std::is_same_v<T, Float>) {
      return a * b + c;
    } else {
      if constexpr (std::is_same_v<E, float>) {
        if (is_fused) return detail::FusedMultiplyAdd(a, b, c);
      }
      return detail::Rounded<E>(a * b) + c;
    }
  }
};

/// a * c + b.
template <class E>
struct MultiplyThirdAdd {
  MultiplyAdd<E> op;
  template <class T>
  T operator()(T a, T b, T c) const {
    return op(a, c, b);
  }
};

template <class E>
struct MultiplyThirdAddRelu {
  MultiplyAdd<E> op;
  template <class T>
  T operator()(T a, T b, T c) const {
    return Relu{}(op(a, c, b));
  }
};

/// scalar * x + y, rounded apart; the product to E.
template <class E, class C>
struct Axpy {
  C scalar;
  bool is_fused;

  template <class T>
  T operator()(T y, T x) const {
    if constexpr (std::is_same_v<T, Float>) {
      if (is_fused) return MultiplyAdd<float>{true}(Splat<T>(scalar), x, y);
      return detail::Rounded<E>(Splat<T>(scalar) * x) + y;
    } else {
      return Splat<T>(scalar) * x + y;
    }
  }
};

struct SubRelu {
  template <class T>
  T operator()(T a, T b) const {
    return Relu{}(Sub{}(a, b));
  }
};

/// a > 0 ? a : a * slope.
struct ParametricRelu {
  template <class T>
  T operator()(T a, T slope) const {
    return a > 0 ? a : a * slope;
  }
};

/// Op(a, b) + c.
template <class Op>
struct ThenAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Op{}(a, b), c);
  }
};

/// Op(a, scalar) + b.
template <class Op, class C>
struct ScalarThenAdd {
  C scalar;
  template <class T>
  T operator()(T a, T b) const {
    return Add{}(Op{}(a, Splat<T>(scalar)), b);
  }
};

/// max(Op(a, b), 0) of From, in which Op is rounded or wraps, in To: to nearest even, beyond its
/// range the largest value.
template <class Op, class To, class From>
struct ReluTo {
  static constexpr bool kInLanes = true;

  [[gnu::always_inline]] auto operator()(Float a, Float b) const {
    const Float value = Op{}(a, b);
    if constexpr (std::is_same_v<From, float>) {
      return Clamp{65504.0f}(Relu{}(value));
    } else {
      Float rest;
      if constexpr (std::is_same_v<From, half>) {
        rest = detail::Rounded<half>(value);
      } else {
        const Uint bits = (Uint) __builtin_convertvector(value, Int) << 16;
        rest = __builtin_convertvector((Int)bits >> 16, Float);
      }
      return ToInt::Of<To>(Rounding::kNearestEven, true)(Relu{}(rest));
    }
  }
};

/// max((a + b) * scale, 0) as the chip computes it: the sum wraps, then it is a float that is
/// scaled down, by scale and up, each step rounded.
struct AddDequantizeRelu {
  float scale;

  float operator()(int32_t a, int32_t b) const {
    constexpr float kDown = 0x1p-17f, kUp = 0x1p17f, kLargestHalf = 65504.0f;
    const float value = Relu{}(static_cast<float>(Add{}(a, b)) * kDown * scale * kUp);
    return value > kLargestHalf ? kLargestHalf : value;
  }
};

}  // namespace npu::simd
