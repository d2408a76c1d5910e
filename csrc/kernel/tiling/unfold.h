// SPDX-License-Identifier: Apache-2.0
// What the host side tells the kernel that unfolds images. Plain data, passed by value.
#pragma once

#include <cstdint>

/// Of images x channels planes, for each tap of a window the grid of rows x cols elements that it
/// sees. Extents and distances in elements; those in pairs are vertical, horizontal. With o along
/// the grid of window positions and i along the image, a tap t sees i = o * step + t - padding.
struct UnfoldTiling {
  int64_t images, channels;
  int64_t height, width;  // of a source plane
  int64_t src_image, src_channel, src_row, src_col;
  int64_t rows, cols;  // of a destination grid; neighbours in a row are contiguous
  int64_t first_row;   // of the grid, where only rows from there on are written
  int64_t dst_image, dst_channel, dst_tap, dst_row;
  int64_t extra_taps[2];  // taps of the window less one
  int64_t extra_step[2];  // distance of window positions less one
  int64_t padding[2];
  int64_t spreads;      // 0: the source is the image; 1: the grid is it, the source lies over o
  int64_t extra_parts;  // pieces that the channels are cut into, less one
  int64_t fill;         // what is seen outside of the source: the bits of an element
};
