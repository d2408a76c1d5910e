// SPDX-License-Identifier: Apache-2.0
// Tiles through TPipe from core to core, and in global memory: A5.
#include <vector>

#include "elements.hpp"
#include "pipe_tiles.hpp"
#include "pto/sync_custom.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::AsA5;
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

template <int kRows, int kCols>
using Dense = Tile<TileType::Vec, float, kRows, kCols>;

/// Sends full tiles from the cube core straight into UB; Part is the tile of a vector core.
template <TileSplitAxis kSplit, uint32_t kSlots, class PartTile>
void CheckToVector(int tiles) {
  using Pipe = TPipe<2, DIR_C2V, kSlotBytes, kSlots, 2, kSplit == TILE_NO_SPLIT>;
  int errors = 0, popped = 0;
  OnMixed(
      [&] {
        const AsA5 chip;
        Pipe pipe(nullptr, 4096, 0);
        Acc<float, 32, 64> acc(32, 64);
        TASSIGN(acc, 0);
        for (int i = 0; i < tiles; ++i) {
          FillPart(acc, i, {0, 0, 32, 64});
          TPUSH<Pipe, Acc<float, 32, 64>, kSplit>(pipe, acc);
        }
      },
      [&] {
        const AsA5 chip;
        if (kSplit == TILE_NO_SPLIT && SubBlock() == 1) return;
        Pipe pipe(nullptr, 4096, 0);
        PartTile tile;
        for (int i = 0; i < tiles; ++i, ++popped) {
          TPOP<Pipe, PartTile, kSplit>(pipe, tile);
          errors += test::Mismatches(tile, i, PlainPart(kSplit, SubBlock(), 32, 64));
          TFREE<Pipe, kSplit>(pipe);
        }
      });
  EXPECT_EQ(errors, 0) << int{kSplit} << " " << kSlots;
  EXPECT_EQ(popped, tiles * (kSplit == TILE_NO_SPLIT ? 1 : 2));
}

TEST(PipeA5, CubeToVectorFromCoreToCore) {
  for (const int tiles : {0, 1, 7, 16}) {
    CheckToVector<TILE_UP_DOWN, 1, Dense<16, 64>>(tiles);
    CheckToVector<TILE_UP_DOWN, 2, Dense<16, 64>>(tiles);
    CheckToVector<TILE_LEFT_RIGHT, 4, Dense<32, 32>>(tiles);
    CheckToVector<TILE_NO_SPLIT, 2, Dense<32, 64>>(tiles);
  }
}

/// Sends boxed tiles from the vector cores straight into L1.
template <TileSplitAxis kSplit, class PartTile>
void CheckToCube(int tiles) {
  using Pipe = TPipe<4, DIR_V2C, kSlotBytes, 2>;
  using Whole = Tile<TileType::Mat, float, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor>;
  int errors = 0;
  OnMixed(
      [&] {
        const AsA5 chip;
        Pipe pipe(nullptr, 0, 2048);
        Whole tile;
        for (int i = 0; i < tiles; ++i) {
          TPOP<Pipe, Whole, kSplit>(pipe, tile);
          errors += test::Mismatches(tile, i, {0, 0, 32, 64});
          TFREE<Pipe, kSplit>(pipe);
        }
      },
      [&] {
        const AsA5 chip;
        Pipe pipe(nullptr, 0, 2048);
        const Part part = PlainPart(kSplit, SubBlock(), 32, 64);
        PartTile tile;
        TASSIGN(tile, 0);
        for (int i = 0; i < tiles; ++i) {
          FillPart(tile, i, part);
          TPUSH<Pipe, PartTile, kSplit>(pipe, tile);
        }
      });
  EXPECT_EQ(errors, 0) << int{kSplit};
}

template <int kRows, int kCols>
using Boxed =
    Tile<TileType::Vec, float, kRows, kCols, BLayout::ColMajor, kRows, kCols, SLayout::RowMajor>;

TEST(PipeA5, VectorToCubeFromCoreToCore) {
  CheckToCube<TILE_UP_DOWN, Boxed<16, 64>>(7);
  CheckToCube<TILE_LEFT_RIGHT, Boxed<32, 32>>(7);
}

/// The same through global memory in either direction.
template <uint8_t kDirection>
void CheckGlobal() {
  using Pipe = TPipe<0, kDirection, kSlotBytes, 2>;
  constexpr bool kToVector = Pipe::is_c2v;
  std::vector<float> slots(2 * 32 * 64);
  int errors = 0;
  OnMixed(
      [&] {
        const AsA5 chip;
        Pipe pipe(slots.data(), 0, 0);
        Acc<float, 32, 64> acc(32, 64);
        MatNz<float, 32, 64> tile(32, 64);
        TASSIGN(acc, 0);
        for (int i = 0; i < 9; ++i) {
          if constexpr (kToVector) {
            FillPart(acc, i, {0, 0, 32, 64});
            TPUSH<Pipe, Acc<float, 32, 64>, TILE_UP_DOWN>(pipe, acc);
          } else {
            TPOP<Pipe, MatNz<float, 32, 64>, TILE_UP_DOWN>(pipe, tile);
            errors += test::Mismatches(tile, i, {0, 0, 32, 64});
          }
        }
      },
      [&] {
        const AsA5 chip;
        Pipe pipe(slots.data(), 0, 0);
        const Part part = PlainPart(TILE_UP_DOWN, SubBlock(), 32, 64);
        VecTile<float, 32, 64> tile(16, 64);
        TASSIGN(tile, 0);
        for (int i = 0; i < 9; ++i) {
          if constexpr (kToVector) {
            TPOP<Pipe, VecTile<float, 32, 64>, TILE_UP_DOWN>(pipe, tile);
            errors += test::Mismatches(tile, i, part);
          } else {
            FillPart(tile, i, part);
            TPUSH<Pipe, VecTile<float, 32, 64>, TILE_UP_DOWN>(pipe, tile);
          }
        }
      });
  EXPECT_EQ(errors, 0) << int{kDirection};
}

TEST(PipeA5, GlobalMemoryIsADirectionOfItsOwn) {
  CheckGlobal<DIR_C2V_GM>();
  CheckGlobal<DIR_V2C_GM>();
}

TEST(PipeA5, ANegativeRegionIsEmptyWithChecksOff) {
  using Pipe = TPipe<0, DIR_V2C, kSlotBytes, 2>;
  int sent = 0;
  OnMixed(
      [] {
        const AsA5 chip;
        Pipe pipe(nullptr, 0, 0);
        MatNz<float, 32, 64> tile(32, 64);
        TPOP<Pipe, MatNz<float, 32, 64>, TILE_UP_DOWN>(pipe, tile);
        TFREE<Pipe, TILE_UP_DOWN>(pipe);
      },
      [&] {
        const AsA5 chip;
        Pipe pipe(nullptr, 0, 0);
        VecTile<float, 16, 64> tile(-1, 64);
        TASSIGN(tile, 0);
        npu::current_core->check_limits = false;
        TPUSH<Pipe, VecTile<float, 16, 64>, TILE_UP_DOWN>(pipe, tile);
        npu::current_core->check_limits = true;
        ++sent;
      });
  EXPECT_EQ(sent, 2);
}

TEST(PipeA5, WhatCannotWorkIsNamed) {
  using Pipe = TPipe<0, DIR_C2V, kSlotBytes, 2>;
  using Slot = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
  const auto free = [] {
    const AsA5 chip;
    Pipe pipe(nullptr, 0, 0);
  };
  ExpectContains(MixedFault(
                     [] {
                       const AsA5 chip;
                       Pipe pipe(nullptr, 0, 0);
                       Slot slot;
                       TALLOC<Pipe, Slot, TILE_UP_DOWN>(pipe, slot);
                     },
                     free),
                 "TALLOC: expected a pipe with slots in global memory (DIR_C2V_GM, DIR_V2C_GM, "
                 "DIR_BOTH_GM), got one from core to core");
  ExpectContains(
      MixedFault(
          [] {
            const AsA5 chip;
            Pipe pipe(nullptr, 0, 0);
            Acc<float, 32, 64> acc(32, 64);
            TASSIGN(acc, 0);
            TPUSH<Pipe, Acc<float, 32, 64>, TILE_UP_DOWN_ODD>(pipe, acc);
          },
          free),
      "TPUSH: expected TILE_NO_SPLIT, TILE_UP_DOWN or TILE_LEFT_RIGHT from core to core");
  using Far = TPipe<0, DIR_V2C, kSlotBytes, 2>;
  ExpectContains(MixedFault(
                     [] {
                       const AsA5 chip;
                       Far pipe(nullptr, 0, 0);
                     },
                     [] {
                       const AsA5 chip;
                       Far pipe(nullptr, 0, 512 * 1024);
                       Boxed<16, 64> tile;
                       TASSIGN(tile, 0);
                       TPUSH<Far, Boxed<16, 64>, TILE_UP_DOWN>(pipe, tile);
                     }),
                 "TPUSH: expected the Mat float tile of 32x64 (8192 bytes) to end within the "
                 "524288 bytes of L1");
}

TEST(SyncCvid, CubeCoresThatRunTogetherHaveSlotsOfTheirOwn) {
  constexpr uint32_t kBlocks = 4;
  std::vector<uint8_t> memory(kBlocks * kCvCommSlotBytes);
  std::vector<int> users(kBlocks);
  OnMixed(
      [&] {
        const AsA5 chip;
        const auto slot = static_cast<size_t>(
            TSYNC_CVID<kCvCommSlotBytes, 2>(static_cast<int>(block_idx), memory.data()));
        if (slot < users.size()) ++users[slot];
        SYNCALL<SyncCoreType::AICOnly>();
      },
      [&] { TSYNC_CVID<kCvCommSlotBytes, 2>(static_cast<int>(block_idx), memory.data()); },
      kBlocks);
  EXPECT_EQ(users, std::vector<int>(kBlocks, 1));
}

}  // namespace
