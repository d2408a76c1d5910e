// SPDX-License-Identifier: Apache-2.0
// Which bytes hazards are about: unwritten ones, tiles that overlap, the end of what was asked for.
#include "hazards.hpp"

namespace {

using namespace pto;
using test::Check;
using test::ExpectNone;
using test::ExpectOne;
using test::Found;
using test::Matrix;
using test::Order;
using test::VecTile;
using Vec = VecTile<float, 1, 256>;
constexpr int kBytes = 1024;

TEST(Unwritten, BytesThatAreReadAreFound) {
  const Found found = ExpectOne(Check([] {
                                  Vec x(1, 256), y(1, 256);
                                  TASSIGN(x, 0);
                                  TASSIGN(y, kBytes);
                                  x.SetValidCol(64);
                                  TEXPANDS(x, 1.0f);
                                  x.SetValidCol(80);
                                  y.SetValidCol(80);
                                  TADDS(y, x, 1.0f);
                                }),
                                "unwritten-read", "", "TADDS");
  EXPECT_EQ(found.space, "UB");
  EXPECT_EQ(found.begin, 256u);
  EXPECT_EQ(found.end, 320u);
}

TEST(Unwritten, EachBlockStartsWithout) {
  const auto fill = [] {
    Vec x(1, 256);
    TASSIGN(x, 0);
    if (block_idx == 0) TEXPANDS(x, 1.0f);
    TADDS(x, x, 1.0f);
  };
  ExpectNone(Check(fill, 1));
  const Found found = ExpectOne(Check(fill, 3), "unwritten-read", "", "TADDS");
  EXPECT_EQ(found.second.block, 1u);
  EXPECT_EQ(found.times, 2u);
}

TEST(Unwritten, RowsThatABoxBringsAlongAreNone) {
  const test::Block<half> in(16 * 16 * sizeof(half));
  const auto check = [&](int rows) {
    return Check(
        [&, rows] {
          Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor> mat(16,
                                                                                              16);
          TileLeft<half, 16, 16> left;
          TASSIGN(mat, 0);
          TASSIGN(left, 0);
          if (rows != 0) {
            Matrix<half> matrix(in.data(), {rows, 16}, {16, 1});
            TLOAD(mat, matrix);
          }
          test::Order(PIPE_MTE2, PIPE_MTE1);
          TMOV(left, mat);
        },
        1, NPU_HAZARD_DEFAULT, test::On::kCube);
  };
  ExpectNone(check(16));
  ExpectNone(check(10));
  ExpectOne(check(0), "unwritten-read", "", "TMOV");
}

TEST(Overlap, ATileThatIsOverwrittenInPartIsFoundWhenItIsReadAgain) {
  const auto check = [](unsigned second, bool again) {
    return Check([second, again] {
      Vec x(1, 256), y(1, 256), z(1, 256);
      TASSIGN(x, 0);
      TASSIGN(y, second);
      TASSIGN(z, 4 * kBytes);
      TEXPANDS(x, 1.0f);
      TEXPANDS(y, 2.0f);
      if (again) TEXPANDS(x, 1.0f);
      TADDS(z, x, 1.0f);
    });
  };
  const Found found = ExpectOne(check(512, false), "overlap", "TEXPANDS", "TADDS");
  EXPECT_EQ(found.begin, 512u);
  EXPECT_EQ(found.end, 1024u);
  EXPECT_EQ(found.first.begin, 512u);
  EXPECT_EQ(found.first.end, 1536u);
  EXPECT_EQ(found.second.begin, 0u);
  EXPECT_EQ(found.second.end, 1024u);
  ExpectNone(check(0, false));       // the same place, on purpose
  ExpectNone(check(kBytes, false));  // side by side
  ExpectNone(check(512, true));      // dead when it is overwritten
}

TEST(Overlap, RowsOfATileAreNone) {
  const test::Block<float> in(4 * 256);
  std::fill_n(in.data(), 256, 0.0f);
  for (int i = 0; i < 256; ++i) in.data()[i] = static_cast<float>(i / 64 + 1);
  const test::Block<float> out(2 * 4 * 256);
  out.data()[256] = -1;
  ExpectNone(Check([&] {
    VecTile<float, 4, 64> parent(4, 64), canary(4, 64);
    TASSIGN(parent, 0);
    TASSIGN(canary, kBytes);
    TEXPANDS(canary, 7.0f);
    for (int r = 0; r < 4; ++r) {
      VecTile<float, 4, 64> view(1, 64);
      TASSIGN(view, static_cast<unsigned>(r * 256));
      Matrix<float> row(in.data() + 64 * r, {1, 64}, {64, 1});
      TLOAD(view, row);
    }
    Order(PIPE_MTE2, PIPE_MTE3);
    Order(PIPE_V, PIPE_MTE3, 1);
    Matrix<float> all(out.data(), {4, 64}, {64, 1}), behind(out.data() + 256, {4, 64}, {64, 1});
    TSTORE(all, parent);
    TSTORE(behind, canary);
  }));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(out.data()[i], static_cast<float>(i / 64 + 1)) << i;
  for (int i = 256; i < 512; ++i) EXPECT_EQ(out.data()[i], 7.0f) << i;
}

TEST(Overlap, ViewsOfPartsOfATileAreNone) {
  ExpectNone(Check([] {
    VecTile<float, 4, 64> parent(4, 64), out(4, 64);
    TASSIGN(parent, 0);
    TASSIGN(out, 4 * kBytes);
    for (int time = 0; time < 2; ++time) {
      TEXPANDS(parent, 1.0f);
      for (unsigned r = 0; r < 4; ++r) {  // whose extents reach behind the parent
        VecTile<float, 4, 64> view(1, 64), row(1, 64);
        TASSIGN(view, r * 256);
        TASSIGN(row, 4 * kBytes + r * 256);
        TADDS(row, view, 1.0f);  // a part of what was written as a whole
        TEXPANDS(view, 2.0f);
      }
      TADDS(out, parent, 1.0f);  // a whole that was written in parts
    }
  }));
}

TEST(Overlap, AViewThatReachesBehindItsTileIsFound) {
  const auto found = Check([] {
    VecTile<float, 4, 64> parent(4, 64), out(4, 64);
    TASSIGN(parent, 0);
    TASSIGN(out, 4 * kBytes);
    TEXPANDS(parent, 1.0f);
    VecTile<float, 4, 64> view(2, 64);
    TASSIGN(view, 3 * 256);
    TEXPANDS(view, 2.0f);
    TADDS(out, parent, 1.0f);
  });
  ExpectOne(found, "overlap", "TEXPANDS", "TADDS");
}

TEST(Padding, OfAFullTileThatEndsWithItsSpaceTouchesNothing) {
  ExpectNone(Check([] {
    using Padded = Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox,
                        512, PadValue::Max>;
    Padded src(64, 64), dst(64, 64);
    TASSIGN(src, 0x30000 - 64 * 64 * 4);
    TASSIGN(dst, 0x30000 - 64 * 64 * 4);
    TEXPANDS(src, 1.0f);
    TFILLPAD(dst, src);
  }));
}

TEST(Padding, OfATileInL1ReadsNothing) {
  ExpectNone(test::CheckMixed(
      [] {
        Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor> tile(40,
                                                                                             20);
        TASSIGN(tile, 0);
        TFILLPAD(tile, tile);
      },
      [] {}));
}

TEST(Range, OddRowsAndPitchesOfWholeTensorsAreRight) {
  const test::Block<half> narrow(2 * 9 * sizeof(half));
  const test::Block<float> wide((3 * 126 + 112) * sizeof(float));
  ExpectNone(Check([&] {
    VecTile<half, 2, 16> x(2, 9);
    TASSIGN(x, 0);
    Matrix<half> rows(narrow.data(), {2, 9}, {9, 1});
    TLOAD(x, rows);
    Order(PIPE_MTE2, PIPE_V);
    TADDS(x, x, half(1));
    Order(PIPE_V, PIPE_MTE3);
    TSTORE(rows, x);
    VecTile<float, 4, 112> y(4, 112);
    TASSIGN(y, kBytes);
    Matrix<float> cut(wide.data(), {4, 112}, {126, 1});
    TLOAD(y, cut);
    Order(PIPE_MTE2, PIPE_MTE3);
    TSTORE(cut, y);
  }));
}

TEST(Range, BehindTheSizeThatWasAskedForIsFound) {
  const test::Block<float> block(100 * sizeof(float));  // of which the allocation has 112
  const auto check = [&](int count) {
    return Check([&, count] {
      Vec x(1, count);
      TASSIGN(x, 0);
      Matrix<float> row(block.data(), {1, count}, {count, 1});
      TLOAD(x, row);
    });
  };
  ExpectNone(check(100));
  const Found found = ExpectOne(check(104), "out-of-range", "", "TLOAD");
  EXPECT_EQ(found.space, "GM");
  EXPECT_EQ(found.begin, 400u);
  EXPECT_EQ(found.end, 416u);
  EXPECT_EQ(found.second.begin, 0u);
  EXPECT_EQ(found.second.end, 416u);
  test::ExpectContains(found.mend, "400 bytes");
}

TEST(Range, WhatFaultsIsNoFinding) {
  const test::Checking checking;
  const std::string negative = test::FaultOf([] {
    VecTile<float, 8, 64> x(8, 64), y(8, 64);
    TASSIGN(x, 0);
    TASSIGN(y, 4096);
    TEXPANDS(x, 1.0f);
    y.SetValidRow(-1);
    x.SetValidRow(-1);
    TADDS(y, x, 1.0f);
  });
  test::ExpectContains(negative, "-1");
  const std::string too_large = test::FaultOf([] {
    VecTile<float, 64, 1024> x(64, 1024);
    TASSIGN(x, 0);
  });
  test::ExpectContains(too_large, "262144");
  EXPECT_TRUE(test::Findings().empty());
}

TEST(Range, AValidRegionOfNoneTouchesNothing) {
  const test::Block<float> out(kBytes);
  ExpectNone(Check([&] {
    Vec x(1, 0), y(1, 0);
    TASSIGN(x, 0);
    TASSIGN(y, kBytes);
    TADDS(y, x, 1.0f);
  }));
}

}  // namespace
