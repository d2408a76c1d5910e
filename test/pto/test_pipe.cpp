// SPDX-License-Identifier: Apache-2.0
// Tiles through TPipe in global memory: A2 and A3.
#include <vector>

#include "elements.hpp"
#include "pipe_tiles.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::ExpectContains;
using test::FillPart;
using test::MatNz;
using test::MixedFault;
using test::OnMixed;
using test::Part;
using test::PlainPart;
using test::SubBlock;
using test::VecTile;

constexpr uint32_t kSlotBytes = 32 * 64 * sizeof(float);

/// Sends tiles of rows x cols from the cube core; once all are there a second pipe follows on the
/// same flags and slots.
template <TileSplitAxis kSplit, uint32_t kSlots>
void CheckToVector(int rows, int cols, int tiles) {
  using Pipe = TPipe<2, DIR_C2V, kSlotBytes, kSlots>;
  std::vector<float> slots(kSlots * 32 * 64);
  int errors = 0, popped = 0;
  OnMixed(
      [&] {
        for (int run = 0; run < 2; ++run) {
          Pipe pipe(slots.data(), 0, 0);
          Acc<float, 32, 64> acc(rows, cols);
          TASSIGN(acc, 0);
          for (int i = 0; i < tiles; ++i) {
            FillPart(acc, i, {0, 0, rows, cols});
            TPUSH<Pipe, Acc<float, 32, 64>, kSplit>(pipe, acc);
          }
          SYNCALL<SyncCoreType::Mix>();
        }
      },
      [&] {
        const Part part = PlainPart(kSplit, SubBlock(), rows, cols);
        for (int run = 0; run < 2; ++run) {
          Pipe pipe(slots.data(), 4096, 0);
          VecTile<float, 32, 64> tile(part.rows, part.cols);
          for (int i = 0; i < tiles; ++i, ++popped) {
            TPOP<Pipe, VecTile<float, 32, 64>, kSplit>(pipe, tile);
            errors += test::Mismatches(tile, i, part);
            TFREE<Pipe, kSplit>(pipe);
          }
          SYNCALL<SyncCoreType::Mix>();
        }
      });
  EXPECT_EQ(errors, 0) << int{kSplit} << " " << kSlots;
  EXPECT_EQ(popped, 4 * tiles);
}

TEST(Pipe, CubeToVectorInEverySplit) {
  CheckToVector<TILE_NO_SPLIT, 2>(32, 64, 7);
  CheckToVector<TILE_UP_DOWN, 2>(32, 64, 7);
  CheckToVector<TILE_UP_DOWN, 2>(6, 40, 7);
  CheckToVector<TILE_LEFT_RIGHT, 2>(31, 48, 7);
  CheckToVector<TILE_UP_DOWN_ODD, 2>(5, 64, 7);
  CheckToVector<TILE_LEFT_RIGHT_ODD, 2>(5, 47, 7);
}

TEST(Pipe, AnyNumberOfSlotsAndTiles) {
  for (const int tiles : {0, 1, 2, 3, 8, 9, 40}) {
    CheckToVector<TILE_UP_DOWN, 1>(16, 16, tiles);
    CheckToVector<TILE_UP_DOWN, 2>(16, 16, tiles);
    CheckToVector<TILE_UP_DOWN, 3>(16, 16, tiles);
    CheckToVector<TILE_UP_DOWN, 6>(16, 16, tiles);
    CheckToVector<TILE_UP_DOWN, 8>(16, 16, tiles);
  }
  static_assert(TPipe<0, DIR_C2V, 32, 8>::countPendingFreeCredits(40) == 2);
}

/// Sends tiles of rows x cols from both vector cores to the cube core.
template <TileSplitAxis kSplit, class Direct = std::integral_constant<uint8_t, DIR_V2C>>
void CheckToCube(int rows, int cols, int tiles) {
  using Pipe = TPipe<4, Direct::value, kSlotBytes, 4>;
  std::vector<float> slots(2 * 4 * 32 * 64);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0, 1024);
        MatNz<float, 32, 64> tile(rows, cols);
        for (int i = 0; i < tiles; ++i) {
          TPOP<Pipe, MatNz<float, 32, 64>, kSplit>(pipe, tile);
          errors += test::Mismatches(tile, i, {0, 0, rows, cols});
        }
      },
      [&] {
        const Part part = PlainPart(kSplit, SubBlock(), rows, cols);
        Pipe pipe(slots.data(), 0, 0);
        VecTile<float, 32, 64> tile(part.rows, part.cols);
        TASSIGN(tile, 8192);
        for (int i = 0; i < tiles; ++i) {
          FillPart(tile, i, part);
          TPUSH<Pipe, VecTile<float, 32, 64>, kSplit>(pipe, tile);
        }
      });
  EXPECT_EQ(errors, 0) << int{kSplit};
}

TEST(Pipe, VectorToCubeInEverySplit) {
  CheckToCube<TILE_NO_SPLIT>(32, 64, 9);
  CheckToCube<TILE_UP_DOWN>(30, 64, 9);
  CheckToCube<TILE_LEFT_RIGHT>(17, 48, 9);
  CheckToCube<TILE_UP_DOWN_ODD>(7, 64, 9);
  CheckToCube<TILE_LEFT_RIGHT_ODD>(7, 39, 9);
}

TEST(Pipe, BothDirectionsAtOnceHaveSlotsOfTheirOwn) {
  using Pipe = TPipe<0, DIR_BOTH, kSlotBytes, 2>;
  std::vector<float> slots(2 * 2 * 32 * 64);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Acc<float, 32, 64> acc(32, 64);
        MatNz<float, 32, 64> tile(32, 64);
        TASSIGN(acc, 0);
        for (int i = 0; i < 10; ++i) {
          FillPart(acc, i, {0, 0, 32, 64});
          TPUSH<Pipe, Acc<float, 32, 64>, TILE_UP_DOWN>(pipe, acc);
          TPOP<Pipe, MatNz<float, 32, 64>, TILE_UP_DOWN>(pipe, tile);
          errors += test::Mismatches(tile, 100 + i, {0, 0, 32, 64});
        }
      },
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        const Part part = PlainPart(TILE_UP_DOWN, SubBlock(), 32, 64);
        VecTile<float, 32, 64> out(16, 64), in(16, 64);
        TASSIGN(out, 65536);
        for (int i = 0; i < 10; ++i) {
          FillPart(out, 100 + i, part);
          TPUSH<Pipe, VecTile<float, 32, 64>, TILE_UP_DOWN>(pipe, out);
          TPOP<Pipe, VecTile<float, 32, 64>, TILE_UP_DOWN>(pipe, in);
          errors += test::Mismatches(in, i, part);
        }
      });
  EXPECT_EQ(errors, 0);
}

TEST(Pipe, ASubBlockMayBeNamed) {
  using Pipe = TPipe<0, DIR_C2V, kSlotBytes, 2>;
  std::vector<float> slots(2 * 32 * 64);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Acc<float, 32, 64> acc(32, 64);
        TASSIGN(acc, 0);
        FillPart(acc, 0, {0, 0, 32, 64});
        TPUSH<Pipe, Acc<float, 32, 64>, TILE_UP_DOWN>(pipe, acc, 0);
      },
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        const int other = 1 - SubBlock();
        VecTile<float, 32, 64> tile(16, 64);
        TPOP<Pipe, VecTile<float, 32, 64>, TILE_UP_DOWN>(pipe, tile, other);
        errors += test::Mismatches(tile, 0, PlainPart(TILE_UP_DOWN, other, 32, 64));
      });
  EXPECT_EQ(errors, 0);
}

TEST(Pipe, AKernelMayTakeStepsItself) {
  using Pipe = TPipe<0, DIR_C2V, kSlotBytes, 2>;
  std::vector<float> slots(2 * 32 * 64);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Acc<float, 16, 64> acc(16, 64);
        TASSIGN(acc, 0);
        // Two halves into one slot, told of once.
        for (int half = 0; half < 2; ++half) {
          FillPart(acc, 0, {16 * half, 0, 16, 64});
          pipe.prod.setTileId(0, half);
          pipe.prod.setEntryOffset(half * 16 * 64 * 4);
          pipe.prod.setRecordStatus(half == 1);
          TPUSH<Pipe, Acc<float, 16, 64>, TILE_UP_DOWN>(pipe, acc);
        }
        EXPECT_EQ(pipe.prod.getTileId(), 1);
        EXPECT_EQ(pipe.prod.getSubTileId(), 1);
      },
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        VecTile<float, 16, 64> tile(8, 64);
        for (int half = 0; half < 2; ++half) {
          pipe.cons.setTileId(0, half);
          pipe.cons.setEntryOffset(half * 16 * 64 * 4);
          pipe.cons.setWaitStatus(half == 0);
          pipe.cons.setFreeStatus(half == 1);
          TPOP<Pipe, VecTile<float, 16, 64>, TILE_UP_DOWN>(pipe, tile);
          errors += test::Mismatches(tile, 0, {16 * half + 8 * SubBlock(), 0, 8, 64});
        }
      });
  EXPECT_EQ(errors, 0);
}

using Slot = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
using Half = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;

TEST(Pipe, SlotsAsGlobalTensors) {
  using Pipe = TPipe<0, DIR_BOTH, kSlotBytes, 3>;
  std::vector<float> slots(2 * 3 * 32 * 64);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Acc<float, 32, 64> acc(32, 64);
        MatNz<float, 32, 64> tile(32, 64);
        TASSIGN(acc, 0);
        TASSIGN(tile, 0);
        for (int i = 0; i < 10; ++i) {
          FillPart(acc, i, {0, 0, 32, 64});
          Slot out, in;
          TALLOC<Pipe, Slot, TILE_UP_DOWN>(pipe, out);
          TSTORE(out, acc);
          TPUSH<Pipe, Slot, TILE_UP_DOWN>(pipe, out);
          TPOP<Pipe, Slot, TILE_UP_DOWN>(pipe, in);
          TLOAD(tile, in);
          TFREE<Pipe, Slot, TILE_UP_DOWN>(pipe, in);
          errors += test::Mismatches(tile, 50 + i, {0, 0, 32, 64});
        }
      },
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        const Part part = PlainPart(TILE_UP_DOWN, SubBlock(), 32, 64);
        VecTile<float, 16, 64> tile(16, 64);
        TASSIGN(tile, 0);
        for (int i = 0; i < 10; ++i) {
          Half out, in;
          FillPart(tile, 50 + i, part);
          TALLOC<Pipe, Half, TILE_UP_DOWN>(pipe, out);
          TSTORE(out, tile);
          TPUSH<Pipe, Half, TILE_UP_DOWN>(pipe, out);
          TPOP<Pipe, Half, TILE_UP_DOWN>(pipe, in);
          TLOAD(tile, in);
          TFREE<Pipe, Half, TILE_UP_DOWN>(pipe, in);
          errors += test::Mismatches(tile, i, part);
        }
      });
  EXPECT_EQ(errors, 0);
}

TEST(Pipe, WordsOfControl) {
  using Pipe = TPipe<0, DIR_V2C_CTRL, 4, 2>;
  uint32_t words[2] = {};
  std::vector<bool> seen;
  OnMixed(
      [&] {
        Pipe pipe(words, 0, 0);
        VecTile<uint32_t, 1, 8> unused(1, 1);
        for (int i = 0; i < 6; ++i) {
          TPOP<Pipe, VecTile<uint32_t, 1, 8>, TILE_UP_DOWN>(pipe, unused);
          seen.push_back(pipe.fifo.ctrlSignal);
        }
      },
      [&] {
        Pipe pipe(words, 0, 0);
        VecTile<uint32_t, 1, 8> tile(1, 1);
        TASSIGN(tile, 0);
        for (uint32_t i = 0; i < 6; ++i) {
          tile.SetValue(0, i % 3);
          TPUSH<Pipe, VecTile<uint32_t, 1, 8>, TILE_UP_DOWN>(pipe, tile);
        }
      });
  EXPECT_EQ(seen, (std::vector<bool>{false, true, false, false, true, false}));
}

/// A push of rows of 32 bytes, as part core of a slot of 128 bytes.
template <TileSplitAxis kSplit>
std::string PushPart(int rows, int core) {
  using ToCube = TPipe<0, DIR_V2C, 128, 2>;
  using Part = VecTile<float, 4, 8>;
  static std::vector<float> slots(64);
  const test::Bodies bodies = {[] {},
                               [&] {
                                 if (get_subblockid() != 0) return;
                                 ToCube pipe(slots.data(), 0, 0);
                                 Part part(rows, 8);
                                 TASSIGN(part, 0);
                                 TPUSH<ToCube, Part, kSplit>(pipe, part, core);
                               }};
  return test::RunMixed(bodies) == NPU_SUCCESS ? "" : npuGetLastErrorMessage();
}

TEST(Pipe, BothPartsOfASplitTileFitIntoASlot) {
  const std::string expected =
      "TPUSH: expected the parts of both vector cores in at most 128 bytes (those of a slot), got ";
  EXPECT_EQ(PushPart<TILE_NO_SPLIT>(4, 0), "");
  EXPECT_EQ(PushPart<TILE_UP_DOWN>(2, 1), "");
  ExpectContains(PushPart<TILE_UP_DOWN>(4, 0), expected + "256");
  ExpectContains(PushPart<TILE_LEFT_RIGHT>(3, 1), expected + "192");
  EXPECT_EQ(PushPart<TILE_UP_DOWN_ODD>(2, 0), "");
  EXPECT_EQ(PushPart<TILE_UP_DOWN_ODD>(1, 1), "");
  ExpectContains(PushPart<TILE_UP_DOWN_ODD>(2, 1), expected + "160");
}

TEST(Pipe, WhatCannotWorkIsNamed) {
  using Pipe = TPipe<0, DIR_C2V, 64, 2>;
  std::vector<float> slots(64);
  ExpectContains(MixedFault([&] {
                   Pipe pipe(slots.data(), 0, 0);
                   Acc<float, 16, 16> acc(16, 16);
                   TASSIGN(acc, 0);
                   TPUSH<Pipe, Acc<float, 16, 16>, TILE_UP_DOWN>(pipe, acc);
                 }),
                 "TPUSH: expected a tile of at most 64 bytes (those of a slot), got 1024");
  ExpectContains(MixedFault([&] {
                   Pipe pipe(slots.data(), 0, 0);
                   VecTile<float, 1, 8> tile(1, 8);
                   TPOP<Pipe, VecTile<float, 1, 8>, TILE_UP_DOWN>(pipe, tile);
                 }),
                 "TPOP: expected a vector core, to which the pipe leads, got the cube core");
  ExpectContains(MixedFault([&] { TPipe<0, DIR_V2C_GM, 64, 2> pipe(slots.data(), 0, 0); }),
                 "TPipe: expected a direction from DIR_C2V (1) to DIR_V2C_CTRL (4) on Ascend910B1, "
                 "got 6");
  ExpectContains(MixedFault([&] {
                   Pipe pipe(slots.data(), 0, 0);
                   Acc<float, 16, 16> acc(1, 16);
                   TPUSH<Pipe, Acc<float, 16, 16>, TILE_UP_DOWN>(pipe, acc);
                 }),
                 "TPUSH: expected the tile with an address from TASSIGN");
  ExpectContains(MixedFault(
                     [&] {
                       Pipe pipe(slots.data(), 0, 0);
                       Acc<float, 16, 16> acc(1, 16);
                       TASSIGN(acc, 0);
                       TPUSH<Pipe, Acc<float, 16, 16>, TILE_NO_SPLIT>(pipe, acc);
                     },
                     [] {
                       Pipe pipe(nullptr, 0, 0);
                       VecTile<float, 1, 8> tile(1, 8);
                       TPOP<Pipe, VecTile<float, 1, 8>, TILE_NO_SPLIT>(pipe, tile);
                     }),
                 "TPOP: expected an address of global memory");
}

TEST(Pipe, WhatVectorCoresCannotPushIsNamed) {
  std::vector<float> slots(64);
  using Words = TPipe<0, DIR_V2C_CTRL, 4, 2>;
  ExpectContains(MixedFault([] {},
                            [] {
                              Words pipe(nullptr, 0, 0);
                              VecTile<uint32_t, 1, 8> tile(1, 1);
                              TASSIGN(tile, 0);
                              TPUSH<Words, VecTile<uint32_t, 1, 8>, TILE_UP_DOWN>(pipe, tile);
                            }),
                 "TPUSH: expected a pipe with slots in global memory, got NULL");
  using ToCube = TPipe<0, DIR_V2C, 1024, 2>;
  for (const int sub_block : {-1, 2}) {
    ExpectContains(MixedFault([] {},
                              [&] {
                                ToCube pipe(slots.data(), 0, 0);
                                VecTile<float, 1, 8> tile(1, 8);
                                TASSIGN(tile, 0);
                                TPUSH<ToCube, VecTile<float, 1, 8>, TILE_UP_DOWN>(pipe, tile,
                                                                                  sub_block);
                              }),
                   "TPUSH: expected a sub-block of 0 or 1, got " + std::to_string(sub_block));
  }
}

TEST(Pipe, APushThatNobodyMakesRoomForIsNamed) {
  using Pipe = TPipe<0, DIR_C2V, 64, 2>;
  std::vector<float> slots(64);
  const std::string sentence = test::MixedEnd(
      NPU_ERROR_DEADLOCK,
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Acc<float, 16, 16> acc(1, 16);
        TASSIGN(acc, 0);
        // The third waits for a free slot.
        for (int i = 0; i < 3; ++i) TPUSH<Pipe, Acc<float, 16, 16>, TILE_UP_DOWN>(pipe, acc);
      },
      [] {});
  ExpectContains(sentence, "block 0, cube core waits for cross-core flag 1");
}

}  // namespace
