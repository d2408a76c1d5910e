// SPDX-License-Identifier: Apache-2.0
// Operands that reach beyond their tile, or have none: a sentence, and never a crash.
#include <vector>

#include "on_core.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::Matrix;
using test::OnCore;
using test::VecTile;

/// Counts instructions while it lives, so that the operands of each are looked at.
class Counting {
 public:
  Counting() { EXPECT_EQ(npuInstructionCountStart(), NPU_SUCCESS); }
  ~Counting() { EXPECT_EQ(npuInstructionCountStop(), NPU_SUCCESS); }
};

TEST(ObservedTransfer, OfNoRowsMovesNothing) {
  const Counting counting;
  std::vector<float> global(64, 1.0f);
  OnCore([&] {
    VecTile<float, 8, 8> tile(0, 8);
    TASSIGN(tile, 0);
    Matrix<float> nothing(global.data(), {0, 8}, {8, 1});
    TLOAD(tile, nothing);
    TSTORE(nothing, tile);
  });
  EXPECT_EQ(global, std::vector<float>(64, 1.0f));
}

TEST(ObservedTransfer, OfAnotherShapeIsAFault) {
  const Counting counting;
  std::vector<float> global(64);
  ExpectContains(FaultOf([&] {
                   VecTile<float, 8, 8> tile(8, 8);
                   TASSIGN(tile, 0);
                   Matrix<float> nothing(global.data(), {0, 8}, {8, 1});
                   TLOAD(tile, nothing);
                 }),
                 "TLOAD: expected a global tensor of 8x8 elements");
}

TEST(Tile, ElementsOfATileWithoutAnAddressAreAFault) {
  const std::string no_address = "expected a tile with an address from TASSIGN, got one without";
  ExpectContains(FaultOf([] { VecTile<float, 8, 8>(8, 8).SetValue(0, 1.0f); }),
                 "SetValue: " + no_address);
  ExpectContains(FaultOf([] { VecTile<float, 8, 8>(8, 8).GetValue(0); }),
                 "GetValue: " + no_address);
}

TEST(Tile, ElementsBeyondItAreAFault) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 8, 8> tile(8, 8);
                   TASSIGN(tile, 0);
                   tile.SetValue(63, 1.0f);
                   tile.SetValue(64, 1.0f);
                 }),
                 "SetValue: expected an element from 0 to 63, got 64");
}

TEST(Tile, OfAnUnusualKindIsNamed) {
  ExpectContains(FaultOf([] {
                   Tile<TileType::Ctrl, float, 1, 8> tile;
                   TASSIGN(tile, 4);
                 }),
                 "Ctrl float tile of 1x8");
}

TEST(Tcolsum, NeedsATmpForThePairsOfRows) {
  const auto with = [](auto tmp, bool has_address) {
    return [tmp, has_address]() mutable {
      VecTile<float, 8, 16> src(8, 16);
      VecTile<float, 1, 16> dst(1, 16);
      TASSIGN(src, 0);
      TASSIGN(dst, 512);
      if (has_address) TASSIGN(tmp, 1024);
      TCOLSUM(dst, src, tmp, true);
    };
  };
  ExpectContains(FaultOf(with(VecTile<float, 4, 16>(4, 16), false)),
                 "TCOLSUM: expected tmp with an address from TASSIGN");
  ExpectContains(FaultOf(with(VecTile<float, 3, 16>(3, 16), true)),
                 "TCOLSUM: expected tmp of at least 4x16 elements, got a Vec float tile of 3x16");
  ExpectContains(FaultOf(with(VecTile<float, 4, 8>(4, 8), true)),
                 "TCOLSUM: expected tmp of at least 4x16 elements, got a Vec float tile of 4x8");
  OnCore(with(VecTile<float, 4, 16>(4, 16), true));
}

TEST(Tsubview, ThatReachesBeyondItsSpaceHarmsNobody) {
  OnCore([] {
    VecTile<float, 48, 1024> all(48, 1024);
    VecTile<float, 48, 1024> view(1, 8);
    TASSIGN(all, 0);
    TSUBVIEW(view, all, 47, 1016);
    view.SetValidShape(48, 1024);
    TEXPANDS(view, 1.0f);
    EXPECT_EQ(all.GetValue(48 * 1024 - 1), 1.0f);
  });
}

TEST(Trowexpandadd, TakesRowsAsLongAsTheUnifiedBuffer) {
  OnCore([] {
    constexpr int kCols = 16 * 1024;
    VecTile<float, 1, kCols> dst(1, kCols), full(1, kCols);
    Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, -1, -1> column(1, 1);
    TASSIGN(dst, 0);
    TASSIGN(full, kCols * 4);
    TASSIGN(column, kCols * 8);
    TEXPANDS(full, 1.0f);
    column.SetValue(0, 2.0f);
    TROWEXPANDADD(dst, full, column);
    for (int i = 0; i < kCols; ++i) ASSERT_EQ(dst.GetValue(i), 3.0f) << i;
  });
}

TEST(Fault, OfAFormsOwnCheckCountsItsInstruction) {
  const auto first = [](const auto& body) { ExpectContains(FaultOf(body), "instruction 1: "); };
  first([] { set_flag(PIPE_V, PIPE_MTE3, event_t(8)); });
  first([] { pipe_barrier(pipe_t(9)); });
  first([] { wait_flag_dev(16); });
  first([] {
    VecTile<int32_t, 1, 8> tile(1, 8);
    TASSIGN(tile, 0);
    TSHLS(tile, tile, -1);
  });
  first([] {
    VecTile<float, 1, 64> src(1, 64);
    VecTile<uint8_t, 1, 32> dst(1, 8);
    VecTile<float, 1, 8> scalar(1, 1);
    TASSIGN(src, 0);
    TASSIGN(dst, 256);
    TCMPS(dst, src, scalar, CmpMode::EQ);
  });
}

}  // namespace
