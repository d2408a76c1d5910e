// SPDX-License-Identifier: Apache-2.0
// my_gelu(approximate="none"): x times the normal distribution at x.
#include "gelu.hpp"

namespace {

/// Coefficients, highest first, of ln(erfc(a / sqrt 2) / (2 t)) + a^2 / 2 as a polynomial in
/// t - 0.6, where t = 1 / (1 + a / 4), for a in [0, 14.5]: interpolation at the Chebyshev nodes,
/// within 4.3e-8 for float, 6.5e-16 for float64.
template <class T>
constexpr T kTail[] = {-0.2020833689f, -0.2126478414f, 0.237193038f,  0.3514565039f, -0.1424291634f,
                       -0.4834543386f, -0.1074384588f, 0.7495835938f, 1.761011066f,  -1.498409905f};
template <>
constexpr double kTail<double>[] = {
    -0.052401742925854597, 0.23940103335895722,  0.085339325079074973, -0.42249869511351084,
    -0.1179721547235129,   0.46704111247148364,  0.15645836071056387,  -0.4437483985475405,
    -0.19561838856441163,  0.39544167389712752,  0.23744013744249974,  -0.33340715431908366,
    -0.28865933593520665,  0.25601502488380941,  0.36116963354864095,  -0.14364143594823666,
    -0.48398043017746992,  -0.10740720941755249, 0.74959374657000425,  1.7610108554992334,
    -1.4984099364984655};

/// Beyond it the tail is 0 in float, and less than 1e-50.
constexpr double kFar = 15;
constexpr double kDensityAt0 = 0.39894228040143268;  // 1 / sqrt(2 pi)

struct Exact {
  /// tail = what the normal distribution has beyond |x|, distance = min(|x|, kFar).
  template <class TileT>
  static AICORE void Tail(const elementwise::Scratch& scratch, TileT& tail, TileT& distance,
                          TileT& x) {
    using T = typename TileT::DType;
    TileT t = scratch.Tile(2, x), shifted = scratch.Tile(3, x);
    TABS(distance, x);
    TMINS(distance, distance, T(kFar));
    TMULS(t, distance, T(0.25));
    TADDS(t, t, T(1));
    TRECIP(t, t);
    TADDS(shifted, t, T(-0.6));
    TMULS(tail, shifted, kTail<T>[0]);
    TADDS(tail, tail, kTail<T>[1]);
    for (size_t i = 2; i < sizeof(kTail<T>) / sizeof(T); ++i) {
      TMUL(tail, tail, shifted);
      TADDS(tail, tail, kTail<T>[i]);
    }
    TMUL(shifted, distance, distance);
    TMULS(shifted, shifted, T(-0.5));
    TADD(tail, tail, shifted);
    TEXP(tail, tail);
    TMUL(tail, tail, t);
  }

  /// density = that of the normal distribution at x.
  template <class TileT>
  static AICORE void Density(TileT& density, TileT& x) {
    using T = typename TileT::DType;
    TMUL(density, x, x);
    TMULS(density, density, T(-0.5));
    TEXP(density, density);
    TMULS(density, density, T(kDensityAt0));
  }

  /// z = max(x, 0) - |x| tail
  template <class TileT>
  static AICORE void Value(const elementwise::Scratch& scratch, TileT& z, TileT& x) {
    TileT tail = scratch.Tile(0, x), distance = scratch.Tile(1, x);
    Tail(scratch, tail, distance, x);
    TMUL(tail, tail, distance);
    TRELU(z, x);
    TSUB(z, z, tail);
  }

  /// slope = distribution + x density
  template <class TileT>
  static AICORE void Slope(const elementwise::Scratch& scratch, TileT& slope, TileT& x) {
    using T = typename TileT::DType;
    TileT tail = scratch.Tile(0, x), rest = scratch.Tile(1, x);
    Tail(scratch, tail, rest, x);
    TMULS(rest, tail, T(-1));
    TADDS(rest, rest, T(1));
    auto is_positive = scratch.Mask(2, x);
    TCMPS(is_positive, x, T(0), pto::CmpMode::GT);
    TSEL(rest, is_positive, rest, tail, tail);
    Density(slope, x);
    TMUL(slope, slope, x);
    TADD(slope, slope, rest);
  }

  /// curvature = (2 - x^2) density
  template <class TileT>
  static AICORE void Curvature(const elementwise::Scratch& scratch, TileT& curvature, TileT& x) {
    using T = typename TileT::DType;
    TileT factor = scratch.Tile(0, x);
    TMUL(factor, x, x);
    TMULS(factor, factor, T(-1));
    TADDS(factor, factor, T(2));
    Density(curvature, x);
    TMUL(curvature, curvature, factor);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(my_gelu_float, float, gelu::Forward<Exact>, 1)
ELEMENTWISE_KERNEL(my_gelu_backward_float, float, gelu::Backward<Exact>, 2)
ELEMENTWISE_KERNEL(my_gelu_backward_twice_float, float, gelu::BackwardTwice<Exact>, 3)
ELEMENTWISE_KERNEL(my_gelu_half, half, gelu::Forward<Exact>, 1)
ELEMENTWISE_KERNEL(my_gelu_backward_half, half, gelu::Backward<Exact>, 2)
ELEMENTWISE_KERNEL(my_gelu_backward_twice_half, half, gelu::BackwardTwice<Exact>, 3)
ELEMENTWISE_KERNEL(my_gelu_bfloat16, bfloat16_t, gelu::Forward<Exact>, 1)
ELEMENTWISE_KERNEL(my_gelu_backward_bfloat16, bfloat16_t, gelu::Backward<Exact>, 2)
ELEMENTWISE_KERNEL(my_gelu_backward_twice_bfloat16, bfloat16_t, gelu::BackwardTwice<Exact>, 3)
ELEMENTWISE_KERNEL(my_gelu_double, double, gelu::Forward<Exact>, 1)
ELEMENTWISE_KERNEL(my_gelu_backward_double, double, gelu::Backward<Exact>, 2)
ELEMENTWISE_KERNEL(my_gelu_backward_twice_double, double, gelu::BackwardTwice<Exact>, 3)
