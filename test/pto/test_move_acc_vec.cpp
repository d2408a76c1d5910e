// SPDX-License-Identifier: Apache-2.0
// From the cube core to the vector cores of its block.
#include <algorithm>
#include <vector>

#include "elements.hpp"
#include "on_mixed.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::AsA5;
using test::At;
using test::BitsOf;
using test::ExpectContains;
using test::Fill;
using test::MatNd;
using test::MixedFault;
using test::OnMixed;
using test::VecTile;

/// Sets flag id between the cube core and the vector cores of the block.
void Tell(pipe_t pipe, int id) { ffts_cross_core_sync(pipe, 1 | 2 << 4 | id << 8); }

float Value(int row, int col) { return static_cast<float>(row * 64 + col - 500) * 0.25f; }

/// A tile of the vector cores at 4096 gets rows x cols of an accumulator through move; check looks
/// at it on each of them. before: the vector cores have started and filled it with -1.
template <class Dst, class Move, class Check>
void CheckMove(int dst_rows, int dst_cols, int acc_rows, int acc_cols, bool before,
               const Move& move, const Check& check) {
  OnMixed(
      [&] {
        const AsA5 chip;
        Acc<float, 32, 64> acc(acc_rows, acc_cols);
        Dst dst(dst_rows, dst_cols);
        TASSIGN(acc, 0);
        TASSIGN(dst, 4096);
        Fill(acc, Value);
        if (before) wait_flag_dev(1);
        move(dst, acc);
        Tell(PIPE_FIX, 2);
      },
      [&] {
        Dst dst(dst_rows, dst_cols);
        TASSIGN(dst, 4096);
        if (before) {
          Fill(dst, [](int, int) { return -1; });
          Tell(PIPE_MTE3, 1);
        }
        wait_flag_dev(2);
        check(dst, static_cast<int>(get_subblockid()));
      });
}

template <class Dst>
void ExpectPart(const Dst& dst, int rows, int cols, int row, int col) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      const auto expected = static_cast<typename Dst::DType>(Value(row + r, col + c));
      ASSERT_EQ(BitsOf(At(dst, r, c)), BitsOf(expected)) << r << " " << c;
    }
  }
}

template <class T>
using RowMajorTile = VecTile<T, 32, 64>;
template <class T>
using ColMajorTile = Tile<TileType::Vec, T, 32, 64, BLayout::ColMajor, -1, -1>;
template <class T>
using NzTile = Tile<TileType::Vec, T, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;

template <class Dst, AccToVecMode kMode>
void CheckSingle(bool before) {
  constexpr int kTarget = kMode == AccToVecMode::SingleModeVec1 ? 1 : 0;
  CheckMove<Dst>(
      30, 61, 30, 61, before,
      [](auto& dst, auto& acc) { TMOV<Dst, Acc<float, 32, 64>, kMode>(dst, acc); },
      [&](auto& dst, int core) {
        if (core == kTarget) {
          ExpectPart(dst, 30, 61, 0, 0);
        } else if (before) {
          ASSERT_EQ(static_cast<float>(At(dst, 0, 0)), -1.0f);
        }
        if (before) {
          ASSERT_EQ(static_cast<float>(At(dst, 30, 60)), -1.0f);
        }
      });
}

TEST(TmovAccToVec, GoesToOneVectorCoreWhetherItHasStartedOrNot) {
  for (const bool before : {true, false}) {
    CheckSingle<RowMajorTile<float>, AccToVecMode::SingleModeVec0>(before);
    CheckSingle<RowMajorTile<half>, AccToVecMode::SingleModeVec1>(before);
    CheckSingle<ColMajorTile<bfloat16_t>, AccToVecMode::SingleModeVec1>(before);
    CheckSingle<NzTile<half>, AccToVecMode::SingleModeVec0>(before);
  }
}

TEST(TmovAccToVec, SplitsRowsOrColumnsBetweenBoth) {
  for (const bool before : {true, false}) {
    CheckMove<RowMajorTile<float>>(
        15, 61, 30, 61, before,
        [](auto& dst, auto& acc) {
          TMOV<RowMajorTile<float>, Acc<float, 32, 64>, AccToVecMode::DualModeSplitM>(dst, acc);
        },
        [](auto& dst, int core) { ExpectPart(dst, 15, 61, 15 * core, 0); });
    CheckMove<NzTile<float>>(
        30, 32, 30, 61, before,
        [](auto& dst, auto& acc) {
          TMOV<STPhase::Final, NzTile<float>, Acc<float, 32, 64>, AccToVecMode::DualModeSplitN>(
              dst, acc);
        },
        [](auto& dst, int core) { ExpectPart(dst, 30, 32, 0, 32 * core); });
  }
}

TEST(TmovAccToVec, CutsAtZeroAndQuantizes) {
  using Dst = VecTile<int8_t, 32, 64>;
  using Fp = Tile<TileType::Scaling, uint64_t, 1, 64, BLayout::RowMajor, 1, -1>;
  using AccTile = Acc<float, 32, 64>;
  const auto word = [](float scale) { return BitsOf(scale) | uint64_t{1} << 46; };
  const auto expected = [](int row, int col, float scale) {
    return std::clamp(static_cast<int>(std::nearbyint(Value(row, col) * scale)), 0, 127);
  };
  CheckMove<Dst>(
      32, 64, 32, 64, true,
      [&](auto& dst, auto& acc) {
        TMOV<Dst, AccTile, AccToVecMode::SingleModeVec0, ReluPreMode::NormalRelu>(dst, acc,
                                                                                  word(0.5f));
        Fp fp(64);
        TASSIGN(fp, 0);
        Fill(fp, [&](int, int col) { return word(col % 4 * 0.25f); });
        TMOV<Dst, AccTile, Fp, AccToVecMode::SingleModeVec1, ReluPreMode::NormalRelu>(dst, acc, fp);
      },
      [&](auto& dst, int core) {
        for (int row = 0; row < 32; ++row) {
          for (int col = 0; col < 64; ++col) {
            const float scale = core == 0 ? 0.5f : col % 4 * 0.25f;
            ASSERT_EQ(At(dst, row, col), expected(row, col, scale)) << row << " " << col;
          }
        }
      });
}

TEST(TmovAccToVec, PlainFormsAndTextractMeanVectorCore0) {
  using Dst = RowMajorTile<float>;
  CheckMove<Dst>(
      8, 16, 32, 64, true,
      [](auto& dst, auto& acc) {
        TMOV(dst, acc);
        TMOV<STPhase::Partial>(dst, acc);
        TEXTRACT(dst, acc, 16, 32);
      },
      [](auto& dst, int core) {
        if (core == 0) {
          ExpectPart(dst, 8, 16, 16, 32);
        } else {
          ASSERT_EQ(At(dst, 0, 0), -1.0f);
        }
      });
}

TEST(TmovAccToVec, KeepsBlocksApart) {
  constexpr uint32_t kBlocks = 30;  // more than the chip has cube cores
  std::vector<int> seen(2 * kBlocks);
  OnMixed(
      [] {
        const AsA5 chip;
        Acc<float, 16, 16> acc(16, 16);
        VecTile<float, 8, 16> dst(8, 16);
        TASSIGN(acc, 0);
        TASSIGN(dst, 0);
        Fill(acc, [](int row, int) { return static_cast<int>(block_idx) * 2 + row / 8; });
        TMOV<decltype(dst), decltype(acc), AccToVecMode::DualModeSplitM>(dst, acc);
        Tell(PIPE_FIX, 0);
      },
      [&] {
        VecTile<float, 8, 16> dst(8, 16);
        TASSIGN(dst, 0);
        wait_flag_dev(0);
        seen[2 * block_idx + get_subblockid()] = static_cast<int>(At(dst, 7, 15));
      },
      kBlocks);
  for (int i = 0; i < static_cast<int>(2 * kBlocks); ++i) EXPECT_EQ(seen[i], i);
}

TEST(TmovAccToVec, ToACoreThatHasEndedIsLost) {
  OnMixed(
      [] {
        const AsA5 chip;
        Acc<float, 16, 16> acc(16, 16);
        VecTile<float, 16, 16> dst(16, 16);
        TASSIGN(acc, 0);
        TASSIGN(dst, 0);
        wait_flag_dev(0);
        for (int i = 0; i < 3; ++i) dcci(&acc);  // both go on to their end
        TMOV<decltype(dst), decltype(acc), AccToVecMode::SingleModeVec1>(dst, acc);
      },
      [] { Tell(PIPE_V, 0); });
}

TEST(MixedKernel, NamesTilesOfTheOtherPassButDoesNotUseThem) {
  const auto name_all = [] {
    VecTile<float, 8, 8> vec(8, 8);
    Acc<float, 16, 16> acc(16, 16);
    MatNd<float, 1, 64> mat(1, 64);
    TASSIGN(vec, 0);
    TASSIGN(acc, 0);
    TASSIGN(mat, 1024);
    VecTile<float, 8, 8> same(8, 8);
    TASSIGN(same, reinterpret_cast<uint64_t>(vec.data()));
    EXPECT_EQ(same.data(), vec.data());
  };
  OnMixed(name_all, name_all);
  ExpectContains(MixedFault([] {
                   VecTile<float, 8, 8> tile(8, 8);
                   TASSIGN(tile, 64);
                   TADD(tile, tile, tile);
                 }),
                 "TADD: expected a core with UB for the Vec float tile of 8x8, got a cube core");
  ExpectContains(MixedFault([] {
                   VecTile<float, 8, 8> tile(8, 8);
                   TASSIGN(tile, 64);
                   static_cast<void>(tile.GetValue(3));
                 }),
                 "GetValue: expected a tile with an address from TASSIGN, got one without");
  ExpectContains(MixedFault([] {
                   VecTile<float, 64, 1024> tile(64, 1024);
                   TASSIGN(tile, 0);
                 }),
                 "got address 0, end 262144");
}

/// The sentence of moving acc (30 x 20 valid) to a tile of rows x cols on a cube core.
template <AccToVecMode kMode = AccToVecMode::SingleModeVec0>
std::string FaultOfMove(int rows, int cols, bool a5 = true) {
  return MixedFault([=] {
    std::optional<AsA5> chip;
    if (a5) chip.emplace();
    Acc<float, 32, 32> acc(30, 20);
    VecTile<float, 64, 64> dst(rows, cols);
    TASSIGN(acc, 0);
    TASSIGN(dst, 0);
    TMOV<decltype(dst), decltype(acc), kMode>(dst, acc);
  });
}

TEST(TmovAccToVecFault, NamesWhatIsWrong) {
  ExpectContains(
      FaultOfMove(30, 20, false),
      "TMOV: expected a chip that moves an Acc tile to a Vec tile (A5), got Ascend910B1");
  ExpectContains(FaultOfMove(33, 20),
                 "TMOV: expected 33x20 elements of the Vec float tile of 64x64 within the Acc "
                 "float tile of 32x32, got row 0, column 0");
  ExpectContains(FaultOfMove<AccToVecMode::DualModeSplitM>(14, 20),
                 "TMOV: expected dst with half of the 30 valid rows of src, for two vector cores, "
                 "got 14");
  ExpectContains(FaultOfMove<AccToVecMode::DualModeSplitN>(30, 11),
                 "TMOV: expected dst with half of the 20 valid columns of src, for two vector "
                 "cores, got 11");
  ExpectContains(test::FaultOf(
                     [] {
                       const AsA5 chip;
                       Acc<float, 16, 16> acc(16, 16);
                       VecTile<float, 16, 16> dst(16, 16);
                       TASSIGN(acc, 0);
                       TMOV(dst, acc);
                     },
                     test::On::kCube),
                 "TMOV: expected the cube core of a kernel with cube and vector cores, for a Vec "
                 "dst, got one without vector cores");
}

template <int kAxis, int kRows, int kCols>
void CheckScales(int rows, int cols) {
  test::OnCore([=] {
    const AsA5 chip;
    VecTile<uint8_t, kRows, kCols> src(rows, cols);
    VecTile<uint8_t, 64, 64> dst(64, 64);
    VecTile<uint8_t, 1, 512> tmp(1, 512);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    TASSIGN(tmp, 16384);
    Fill(src, [](int row, int col) { return row * 31 + col * 5 + 1; });
    Fill(dst, [](int, int) { return 255; });
    if (kAxis == 1) {
      TMOV(dst, src, tmp);
    } else {
      TMOV<kAxis>(dst, src, tmp);
    }
    const int of_box = kAxis == 1 ? rows : cols, pairs = (kAxis == 1 ? cols : rows) / 2;
    for (int i = 0; i < of_box; ++i) {
      for (int j = 0; j < 2 * pairs; ++j) {
        const int at = ((i / 16 * pairs + j / 2) * 16 + i % 16) * 2 + j % 2;
        const uint8_t expected = kAxis == 1 ? At(src, i, j) : At(src, j, i);
        ASSERT_EQ(dst.data()[at], expected) << i << " " << j;
      }
    }
    const int boxes = (of_box + 15) / 16 * pairs;
    EXPECT_EQ(dst.data()[boxes * 32], 255);
    if (of_box % 16 != 0) {
      EXPECT_EQ(dst.data()[boxes * 32 - 1], 0);
    }
  });
}

TEST(TmovScales, GoIntoBoxesOf16x2) {
  CheckScales<1, 32, 32>(32, 8);
  CheckScales<1, 32, 32>(21, 6);
  CheckScales<0, 8, 64>(4, 64);
  CheckScales<0, 8, 64>(8, 48);
}

TEST(TmovScalesFault, NamesWhatIsWrong) {
  const auto move = [](bool a5, int cols, auto dst) {
    return test::FaultOf([=]() mutable {
      std::optional<AsA5> chip;
      if (a5) chip.emplace();
      VecTile<uint8_t, 32, 32> src(32, cols);
      TASSIGN(src, 0);
      TASSIGN(dst, 8192);
      TMOV(dst, src, src);
    });
  };
  const VecTile<uint8_t, 32, 32> large(32, 32);
  const VecTile<uint8_t, 1, 64> small(1, 64);
  ExpectContains(move(false, 8, large),
                 "TMOV: expected a chip with scaled products (A5), for boxes of 16x2, got "
                 "Ascend910B1");
  ExpectContains(move(true, 7, large),
                 "TMOV: expected src of an even number of valid columns, got 7");
  ExpectContains(move(true, 8, small),
                 "TMOV: expected dst of at least 256 elements (32x8 in boxes of 16x2), got 64");
}

}  // namespace
