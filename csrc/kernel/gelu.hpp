// SPDX-License-Identifier: Apache-2.0
// The operations of my_gelu over a form of it: its value, slope and curvature at x.
#pragma once

#include "elementwise.hpp"

/// A form is a type with static functions Value, Slope and Curvature(scratch, z, x) on tiles of one
/// type and valid shape. They may use scratch tiles 0 to 3; z of Value may be x.
namespace gelu {

/// z = f(x)
template <class Form>
struct Forward {
  static constexpr bool kComputesHalf = false;
  static constexpr bool kTakesScratch = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch& scratch, TileT& z, TileT& x) const {
    Form::Value(scratch, z, x);
  }
};

/// z = gradient f'(x)
template <class Form>
struct Backward {
  static constexpr bool kComputesHalf = false;
  static constexpr bool kTakesScratch = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch& scratch, TileT& z, TileT& gradient,
                         TileT& x) const {
    TileT slope = scratch.Tile(4, x);
    Form::Slope(scratch, slope, x);
    TMUL(z, gradient, slope);
  }
};

/// z = gradient tangent f''(x)
template <class Form>
struct BackwardTwice {
  static constexpr bool kComputesHalf = false;
  static constexpr bool kTakesScratch = true;

  template <class TileT>
  AICORE void operator()(const elementwise::Scratch& scratch, TileT& z, TileT& gradient,
                         TileT& tangent, TileT& x) const {
    TileT curvature = scratch.Tile(4, x);
    Form::Curvature(scratch, curvature, x);
    TMUL(z, gradient, tangent);
    TMUL(z, z, curvature);
  }
};

}  // namespace gelu
