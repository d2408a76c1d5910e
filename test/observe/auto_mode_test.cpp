// SPDX-License-Identifier: Apache-2.0
// Kernels of auto mode, whose flags the chip's compiler sets.
#include "hazards.hpp"

namespace {

using namespace pto;
using test::Check;
using test::ExpectNone;
using test::ExpectOne;
using Vec = test::VecTile<float, 1, 256>;
using Row = test::Row<256>;

/// y = x + 1, some rows of them, through tiles that get the same storage in each round.
void AddOne(float* x, float* y, int rows) {
  for (int row = 0; row < rows; ++row) {
    Row from(x + 256 * row), to(y + 256 * row);
    Vec loaded(1, 256), added(1, 256);
    TLOAD(loaded, from);
    TADDS(added, loaded, 1.0f);
    TSTORE(to, added);
  }
}

TEST(HazardsInAutoMode, ACoreNeedsNoFlags) {
  const test::Block<float> x(4096), y(4096);
  ExpectNone(Check([&] { AddOne(x.data(), y.data(), 4); }));
}

TEST(HazardsInAutoMode, TheScalarUnitIsInOrderToo) {
  const test::Block<float> x(1024);
  ExpectNone(Check([&] {
    Row row(x.data());
    Vec tile(1, 256);
    TLOAD(tile, row);
    tile.SetValue(0, tile.GetValue(1));
    TSTORE(row, tile);
  }));
}

TEST(HazardsInAutoMode, BlocksAreStillUnordered) {
  const test::Block<float> x(1024), y(1024);
  const auto all = Check([&] { AddOne(x.data(), y.data(), 1); }, 2);
  EXPECT_EQ(ExpectOne(all, "write-after-write", "TSTORE", "TSTORE").space, "GM");
}

TEST(HazardsInAutoMode, WhatNothingHasWrittenIsFound) {
  const test::Block<float> y(1024);
  const auto all = Check([&] {
    Row to(y.data());
    Vec tile(1, 256);
    TSTORE(to, tile);
  });
  EXPECT_EQ(test::CountOf(all, "unwritten-read"), 1u);
}

}  // namespace
