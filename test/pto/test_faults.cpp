// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "on_core.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::Matrix;
using test::OnCore;
using test::VecTile;

TEST(Tassign, NamesTheTileThatDoesNotFit) {
  const std::string at_run_time = FaultOf([] {
    VecTile<float, 64, 1024> tile(64, 1024);
    TASSIGN(tile, 0);
  });
  const std::string constant = FaultOf([] {
    VecTile<float, 64, 1024> tile(64, 1024);
    TASSIGN<0>(tile);
  });
  for (const std::string& sentence : {at_run_time, constant}) {
    ExpectContains(
        sentence,
        "kernel_under_test, block 0, instruction 0: TASSIGN: expected the Vec float tile of "
        "64x1024 (262144 bytes) to end within the 196608 bytes of UB on Ascend910B1, got address "
        "0, end 262144");
  }
}

TEST(Tassign, TakesAllOfTheUnifiedBuffer) {
  OnCore([] {
    VecTile<float, 48, 1024> tile(48, 1024);
    TASSIGN(tile, 0);
    TEXPANDS(tile, 1.0f);
    EXPECT_EQ(tile.GetValue(48 * 1024 - 1), 1.0f);
  });
}

TEST(Tassign, NamesAMisalignedAddress) {
  const auto at = [](int address) {
    return [address] {
      VecTile<float, 1, 8> tile(1, 8);
      TASSIGN(tile, address);
    };
  };
  ExpectContains(
      FaultOf(at(4)),
      "TASSIGN: expected a multiple of 32 bytes as address of the Vec float tile of 1x8, got 4");
  OnCore(at(32));
}

TEST(Tassign, NamesACoreWithoutTheSpace) {
  ExpectContains(
      FaultOf([] {
        Tile<TileType::Mat, float, 16, 16> tile;
        TASSIGN(tile, 0);
      }),
      "TASSIGN: expected a core with L1 for the Mat float tile of 16x16, got a vector core");
}

TEST(ValidRegion, NegativeOrTooLargeIsNamed) {
  const auto with_rows = [](int rows) {
    return [rows] {
      VecTile<float, 8, 8> tile(rows, 8);
      TASSIGN(tile, 0);
      TADD(tile, tile, tile);
    };
  };
  ExpectContains(FaultOf(with_rows(-1)),
                 "TADD: expected a valid region of dst from 0x0 to 8x8, got -1x8");
  ExpectContains(FaultOf(with_rows(9)),
                 "TADD: expected a valid region of dst from 0x0 to 8x8, got 9x8");
}

TEST(ValidRegion, DifferentShapesAreNamed) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 8, 8> dst(8, 8), src(8, 4);
                   TASSIGN(dst, 0);
                   TASSIGN(src, 256);
                   TADD(dst, dst, src);
                 }),
                 "TADD: expected src1 of valid shape 8x8 (that of dst), got 8x4");
}

TEST(Transfer, ShapeOfGlobalMustBeTheValidRegion) {
  std::vector<float> global(64 * 64);
  ExpectContains(FaultOf([&] {
                   VecTile<float, 32, 32> tile(32, 32);
                   TASSIGN(tile, 0);
                   Matrix<float> target(global.data(), {64, 64}, {64, 1});
                   TSTORE(target, tile);
                 }),
                 "TSTORE: expected a global tensor of 32x32 elements (the valid region of the "
                 "tile), got 64x64");
}

TEST(Tile, WithoutAnAddressIsNamed) {
  ExpectContains(
      FaultOf([] {
        VecTile<float, 8, 8> tile(8, 8);
        TADD(tile, tile, tile);
      }),
      "TADD: expected dst with an address from TASSIGN, got a Vec float tile of 8x8 without one");
}

TEST(ElementType, OfAnotherChipIsNamed) {
  ExpectContains(
      FaultOf([] {
        VecTile<bfloat16_t, 1, 16> tile(1, 16);
        TASSIGN(tile, 0);
        TADD(tile, tile, tile);
      }),
      "TADD: expected elements of type int16, int32, half or float on Ascend910B1, got bfloat16");
}

TEST(ElementType, DoubleIsAnExtensionThatALaunchAsksFor) {
  const auto body = [] {
    VecTile<double, 1, 4> tile(1, 4);
    TASSIGN(tile, 0);
    TEXPANDS(tile, 0.1);
    TADD(tile, tile, tile);
    EXPECT_EQ(tile.GetValue(3), 0.2);
  };
  ExpectContains(FaultOf(body), "got double");
  OnCore(body, 1, NPU_LAUNCH_FLOAT64);
}

TEST(Flag, WaitWithoutSetIsNamed) {
  ExpectContains(FaultOf([] { wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3); }),
                 "wait_flag: expected an earlier set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3)");
}

TEST(Flag, BelongsToItsPairOfPipesAndItsBlock) {
  OnCore(
      [] {
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
      },
      2);
  ExpectContains(FaultOf([] { wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); }), "wait_flag");
}

TEST(Flag, UnknownPipesAndIdsAreNamed) {
  ExpectContains(FaultOf([] { set_flag(PIPE_V, PIPE_MTE3, event_t(8)); }),
                 "an event id from 0 to 7, got pipe 1, pipe 5, id 8");
  ExpectContains(FaultOf([] { set_flag(PIPE_ALL, PIPE_V, EVENT_ID0); }),
                 "got pipe 7, pipe 1, id 0");
  ExpectContains(FaultOf([] { pipe_barrier(pipe_t(9)); }), "got 9");
  ExpectContains(FaultOf([] { wait_flag_dev(16); }), "a flag id from 0 to 15, got pipe 0, id 16");
}

TEST(Instruction, OutsideOfAKernelIsNamed) {
  try {
    VecTile<float, 1, 8> tile(1, 8);
    TASSIGN(tile, 0);
    FAIL() << "expected a fault";
  } catch (const npu::Fault& fault) {
    ExpectContains(
        fault.what(),
        "TASSIGN: expected a call from a kernel that was launched, got a call from host code");
  }
}

TEST(Fault, SaysWhereTheKernelStood) {
  const std::string sentence = [] {
    EXPECT_EQ(test::Run(
                  [] {
                    pipe_barrier(PIPE_ALL);
                    if (block_idx == 2) wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
                  },
                  4),
              NPU_ERROR_KERNEL_FAULT);
    return std::string(npuGetLastErrorMessage());
  }();
  ExpectContains(sentence, "kernel_under_test, block 2, instruction 2: wait_flag");
}

TEST(Block, EachIndexIsSeenOnceAndTheNumberEverywhere) {
  std::vector<int> seen(24);
  OnCore(
      [&] {
        EXPECT_EQ(block_num, 24u);
        EXPECT_EQ(get_block_num(), 24);
        EXPECT_EQ(get_block_idx(), static_cast<int64_t>(block_idx));
        EXPECT_EQ(get_subblockid(), 0);
        ++seen[block_idx];
      },
      24);
  EXPECT_EQ(seen, std::vector<int>(24, 1));
}

}  // namespace
