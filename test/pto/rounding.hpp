// SPDX-License-Identifier: Apache-2.0
// Rounding and saturation in plain terms, for tests of conversions.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "elements.hpp"

namespace test {

using pto::RoundMode;
using pto::SaturationMode;

inline const std::vector<RoundMode> kModes = {
    RoundMode::CAST_NONE, RoundMode::CAST_RINT,  RoundMode::CAST_ROUND, RoundMode::CAST_FLOOR,
    RoundMode::CAST_CEIL, RoundMode::CAST_TRUNC, RoundMode::CAST_ODD};
inline const std::vector<SaturationMode> kSaturations = {SaturationMode::ON, SaturationMode::OFF};

/// Which of two neighbours value, strictly between them, becomes: the upper one?
inline bool TakesUpper(RoundMode mode, double lower, double value, double upper,
                       bool lower_is_even) {
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return false;
    case RoundMode::CAST_CEIL:
      return true;
    case RoundMode::CAST_TRUNC:
      return value < 0;
    case RoundMode::CAST_ODD:
      return lower_is_even;
    default:
      if (value - lower != upper - value) return value - lower > upper - value;
      if (mode == RoundMode::CAST_ROUND) return value > 0;
      return !lower_is_even;
  }
}

/// value as an integer; CAST_NONE cuts.
inline double ToIntegral(double value, RoundMode mode) {
  if (mode == RoundMode::CAST_NONE) mode = RoundMode::CAST_TRUNC;
  const double lower = std::floor(value);
  if (!std::isfinite(value) || lower == value) return value;
  return TakesUpper(mode, lower, value, lower + 1, std::fmod(lower, 2) == 0) ? lower + 1 : lower;
}

/// value, rounded already, in an integer of T, whose range may be narrower.
template <class T>
T InRange(double value, SaturationMode saturation, double low = std::numeric_limits<T>::min(),
          double high = static_cast<double>(std::numeric_limits<T>::max())) {
  if (std::isnan(value)) return 0;
  if (saturation == SaturationMode::ON && value <= low) return static_cast<T>(low);
  if (saturation == SaturationMode::ON && value >= high)
    return sizeof(T) == 8 ? std::numeric_limits<T>::max() : static_cast<T>(high);
  if (value >= 0x1p63) return static_cast<T>(INT64_MAX);
  if (value < -0x1p63) return static_cast<T>(INT64_MIN);
  return static_cast<T>(static_cast<int64_t>(value));
}

/// All finite values of a 16-bit float in order, -0.0 left out, and its infinities at the ends as
/// the numbers at which rounding leaves the finite range.
template <class T>
class Grid {
 public:
  Grid() {
    for (int bits = 0; bits < 65536; ++bits) {
      const auto value =
          static_cast<double>(static_cast<float>(BitCast<T>(static_cast<uint16_t>(bits))));
      if (std::isfinite(value) && bits != 0x8000) values_.push_back(value);
    }
    std::sort(values_.begin(), values_.end());
    const size_t n = values_.size();
    const double beyond = 2 * values_[n - 1] - values_[n - 2];
    values_.insert(values_.begin(), -beyond);
    values_.push_back(beyond);
  }

  double largest() const { return values_[values_.size() - 2]; }

  /// value in T; what is beyond stays infinite unless saturated.
  double Round(double value, RoundMode mode, SaturationMode saturation) const {
    if (std::isnan(value)) return value;
    if (saturation == SaturationMode::ON) value = std::clamp(value, -largest(), largest());
    if (std::isinf(value)) return value;
    value = std::clamp(value, values_.front(), values_.back());
    const auto at = std::lower_bound(values_.begin(), values_.end(), value);
    double result = *at;
    if (*at != value) {
      // Bits count up from zero: zero is even, and so is every second value from there on.
      const auto zero = static_cast<ptrdiff_t>(values_.size() / 2);
      const bool lower_is_even = (at - 1 - values_.begin() - zero) % 2 == 0;
      result = TakesUpper(mode, at[-1], value, *at, lower_is_even) ? *at : at[-1];
    } else if (at == values_.begin() || at + 1 == values_.end()) {
      result = Beyond(value, mode);
    }
    if (result == values_.back()) return INFINITY;
    return result == values_.front() ? -INFINITY : std::copysign(result, value);
  }

 private:
  /// A finite value at or beyond the end of the grid.
  double Beyond(double value, RoundMode mode) const {
    const bool stays = mode == RoundMode::CAST_TRUNC || mode == RoundMode::CAST_ODD ||
                       mode == (value > 0 ? RoundMode::CAST_FLOOR : RoundMode::CAST_CEIL);
    return stays ? std::copysign(largest(), value) : value;
  }

  std::vector<double> values_;
};

}  // namespace test
