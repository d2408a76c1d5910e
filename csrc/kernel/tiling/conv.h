// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernel of convolutions. Plain data, passed by value.
#pragma once

#include <cstdint>

/// What the kernel has room for: bytes in L1 for the images that it works on at once, of which it
/// has two places, in L0B for all of the weight, and output channels.
constexpr int64_t kConvImageBytes = 192 * 1024;
constexpr int64_t kConvWeightBytes = 64 * 1024;
constexpr int64_t kConvOutputs = 128;

/// Images of channels / C0 planes of height x width places of C0 channels, which are 32 bytes;
/// weight of outputs lines of k elements, by blocks of channels, taps, channels; results of outputs
/// channels for each place of the window. Contiguous all. Those in pairs are vertical, horizontal.
struct ConvTiling {
  int64_t images, channels, height, width;
  int64_t outputs, k;
  int64_t places;
  int64_t at_once;  // images that are worked on at once; above 1 only if places % 16 == 0
  int64_t taps[2], step[2], padding[2];
};
