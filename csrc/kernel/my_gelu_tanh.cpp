// SPDX-License-Identifier: Apache-2.0
// my_gelu(approximate="tanh"): x / (1 + exp(-v)), v = 2 sqrt(2 / pi) (x + 0.044715 x^3).
#include "gelu.hpp"

namespace {

constexpr double kLinear = 1.5957691216057308;  // 2 sqrt(2 / pi)
constexpr double kCubic = kLinear * 0.044715;

struct Tanh {
  /// square = x^2, sigmoid = 1 / (1 + exp(-v))
  template <class TileT>
  static AICORE void Sigmoid(TileT& sigmoid, TileT& square, TileT& x) {
    Divisor(sigmoid, square, x);
    TRECIP(sigmoid, sigmoid);
  }

  /// divisor = 1 + exp(-v)
  template <class TileT>
  static AICORE void Divisor(TileT& divisor, TileT& square, TileT& x) {
    using T = typename TileT::DType;
    TMUL(square, x, x);
    TMULS(divisor, square, T(-kCubic));
    TADDS(divisor, divisor, T(-kLinear));
    TMUL(divisor, divisor, x);
    TEXP(divisor, divisor);
    TADDS(divisor, divisor, T(1));
  }

  /// bell = sigmoid (1 - sigmoid), slope = dv / dx
  template <class TileT>
  static AICORE void BellAndSlope(TileT& bell, TileT& slope, TileT& sigmoid, TileT& square) {
    using T = typename TileT::DType;
    TMULS(bell, sigmoid, T(-1));
    TADDS(bell, bell, T(1));
    TMUL(bell, bell, sigmoid);
    TMULS(slope, square, T(3 * kCubic));
    TADDS(slope, slope, T(kLinear));
  }

  template <class TileT>
  static AICORE void Value(const elementwise::Scratch& scratch, TileT& z, TileT& x) {
    TileT divisor = scratch.Tile(0, x), square = scratch.Tile(1, x);
    Divisor(divisor, square, x);
    TDIV(z, x, divisor);
  }

  /// slope = sigmoid + x bell dv/dx
  template <class TileT>
  static AICORE void Slope(const elementwise::Scratch& scratch, TileT& slope, TileT& x) {
    TileT sigmoid = scratch.Tile(0, x), square = scratch.Tile(1, x), bell = scratch.Tile(2, x);
    Sigmoid(sigmoid, square, x);
    BellAndSlope(bell, slope, sigmoid, square);
    TMUL(slope, slope, bell);
    TMUL(slope, slope, x);
    TADD(slope, slope, sigmoid);
  }

  /// curvature = bell (2 dv/dx + x (1 - 2 sigmoid) (dv/dx)^2 + x d2v/dx2)
  template <class TileT>
  static AICORE void Curvature(const elementwise::Scratch& scratch, TileT& curvature, TileT& x) {
    using T = typename TileT::DType;
    TileT sigmoid = scratch.Tile(0, x), square = scratch.Tile(1, x), bell = scratch.Tile(2, x);
    TileT slope = scratch.Tile(3, x);
    Sigmoid(sigmoid, square, x);
    BellAndSlope(bell, slope, sigmoid, square);
    TMULS(sigmoid, sigmoid, T(-2));
    TADDS(sigmoid, sigmoid, T(1));
    TMUL(sigmoid, sigmoid, slope);
    TMUL(sigmoid, sigmoid, x);
    TADDS(sigmoid, sigmoid, T(2));
    TMUL(curvature, sigmoid, slope);
    TMULS(square, square, T(6 * kCubic));
    TADD(curvature, curvature, square);
    TMUL(curvature, curvature, bell);
  }
};

}  // namespace

ELEMENTWISE_KERNEL(my_gelu_tanh_float, float, gelu::Forward<Tanh>, 1)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_float, float, gelu::Backward<Tanh>, 2)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_twice_float, float, gelu::BackwardTwice<Tanh>, 3)
ELEMENTWISE_KERNEL(my_gelu_tanh_half, half, gelu::Forward<Tanh>, 1)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_half, half, gelu::Backward<Tanh>, 2)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_twice_half, half, gelu::BackwardTwice<Tanh>, 3)
ELEMENTWISE_KERNEL(my_gelu_tanh_bfloat16, bfloat16_t, gelu::Forward<Tanh>, 1)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_bfloat16, bfloat16_t, gelu::Backward<Tanh>, 2)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_twice_bfloat16, bfloat16_t, gelu::BackwardTwice<Tanh>, 3)
ELEMENTWISE_KERNEL(my_gelu_tanh_double, double, gelu::Forward<Tanh>, 1)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_double, double, gelu::Backward<Tanh>, 2)
ELEMENTWISE_KERNEL(my_gelu_tanh_backward_twice_double, double, gelu::BackwardTwice<Tanh>, 3)
