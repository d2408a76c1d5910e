// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace npu::runtime {

/// Makes launches that start from now on run in a random order that their flags allow, which is a
/// function of seed and of the kernel. False while such an order is on already.
bool StartRandomOrder(uint64_t seed);
void StopRandomOrder();

/// The seed for a launch that starts now; none in the usual order.
std::optional<uint64_t> RandomOrderSeed();

/// Random numbers. Source: Vigna, SplitMix64.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// From 0 to count - 1.
  uint64_t Below(uint64_t count) { return Next() % count; }

 private:
  uint64_t state_;
};

}  // namespace npu::runtime
