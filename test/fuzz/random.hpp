// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fuzz {

/// Numbers without pattern, the same for a seed on every machine.
class Random {
 public:
  /// Neighbouring seeds have nothing in common.
  explicit Random(uint64_t seed) : state_(Mixed(seed + 0x632be59bd9b4e019u)) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    return Mixed(state_);
  }
  /// From 0 up to count - 1.
  template <class T>
  T Below(T count) {
    return static_cast<T>(Next() % static_cast<uint64_t>(count));
  }
  /// From low to high.
  int Between(int low, int high) { return low + Below(high - low + 1); }
  /// In percent of the cases.
  bool Chance(int percent) { return Below(100) < percent; }

 private:
  static uint64_t Mixed(uint64_t number) {
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    return number ^ (number >> 31);
  }

  uint64_t state_;
};

}  // namespace fuzz
