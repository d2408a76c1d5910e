// SPDX-License-Identifier: Apache-2.0
// What tiles hold that instructions move into others.
#pragma once

#include "elements.hpp"
#include "plain_tile.hpp"

namespace test {

/// A value for each place, exact in every element type while rows and columns are few.
inline int Mark(int row, int col) { return (row * 7 + col * 3) % 120; }

/// dst, up to rows and cols, has to be src from row and col on.
template <class Dst, class Src>
void ExpectMoved(const Dst& dst, const Src& src, int rows, int cols, int row = 0, int col = 0) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      ASSERT_EQ(BitsOf(At(dst, r, c)), BitsOf(At(src, r + row, c + col))) << r << " " << c;
    }
  }
}

}  // namespace test
