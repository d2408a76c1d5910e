// SPDX-License-Identifier: Apache-2.0
// Accumulators that a TPUSH converts, and TMPipe.
#include <cmath>
#include <vector>

#include "elements.hpp"
#include "pipe_tiles.hpp"
#include "pto/common/fixpipe.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::At;
using test::ExpectContains;
using test::FillPart;
using test::MatNz;
using test::MixedFault;
using test::OnMixed;
using test::Part;
using test::PlainPart;
using test::SubBlock;
using test::VecTile;

/// Pushes an accumulator of 32 x 64 with elements value(row, col), after prepare(), as Config says;
/// check(element, row, col) looks at what a vector core gets of it.
template <class Config, class In, class Out, class Value, class Prepare, class Check>
void CheckConfig(const Value& value, const Prepare& prepare, const Check& check) {
  using Pipe = TPipe<0, DIR_C2V, 32 * 64 * sizeof(Out), 2>;
  using Tile = VecTile<Out, 32, 64>;
  std::vector<Out> slots(2 * 32 * 64);
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Acc<In, 32, 64> acc(31, 48);
        TASSIGN(acc, 0);
        test::Fill(acc, value);
        prepare();
        TPUSH<Pipe, Acc<In, 32, 64>, Config>(pipe, acc);
      },
      [&] {
        Pipe pipe(slots.data(), 0, 0);
        Tile tile(31, 48);
        TPOP<Pipe, Tile, TILE_NO_SPLIT>(pipe, tile);
        for (size_t row = 0; row < 31; ++row) {
          for (size_t col = 0; col < 48; ++col) check(At(tile, row, col), row, col);
        }
      });
}

float Third(size_t row, size_t col) {
  return (static_cast<float>(row) * 64 + static_cast<float>(col) - 1000) / 3;
}
int32_t Whole(size_t row, size_t col) { return static_cast<int32_t>(row * 64 + col) - 1000; }
const auto kNothing = [] {};

TEST(PipeConvert, CastsToNarrowFloats) {
  using ToHalf = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::F322F16>;
  CheckConfig<ToHalf, float, half>(Third, kNothing, [](half got, size_t row, size_t col) {
    EXPECT_EQ(test::BitsOf(got), test::BitsOf(static_cast<half>(Third(row, col))));
  });
  using ToBfloat = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::F322BF16>;
  CheckConfig<ToBfloat, float, bfloat16_t>(
      Third, kNothing, [](bfloat16_t got, size_t row, size_t col) {
        EXPECT_EQ(test::BitsOf(got), test::BitsOf(static_cast<bfloat16_t>(Third(row, col))));
      });
}

TEST(PipeConvert, PlainWithRelu) {
  using Relu = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::NoQuant, ReluPreMode::NormalRelu>;
  CheckConfig<Relu, float, float>(Third, kNothing, [](float got, size_t row, size_t col) {
    EXPECT_EQ(got, std::fmax(Third(row, col), 0.0f));
  });
}

TEST(PipeConvert, OneWordForTheTile) {
  using ToHalf = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::DEQF16>;
  CheckConfig<ToHalf, int32_t, half>(
      Whole, [] { SET_QUANT_SCALAR<half>(0.5f); },
      [](half got, size_t row, size_t col) {
        const float exact = static_cast<float>(Whole(row, col)) * 0.5f;
        EXPECT_EQ(static_cast<float>(got), static_cast<float>(static_cast<half>(exact)));
      });
  using ToInt8 = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::REQ8>;
  CheckConfig<ToInt8, int32_t, int8_t>(
      Whole, [] { SET_QUANT_SCALAR<int8_t>(0.25f); },
      [](int8_t got, size_t row, size_t col) {
        const float scaled = std::nearbyint(static_cast<float>(Whole(row, col)) * 0.25f);
        EXPECT_EQ(got, static_cast<int>(std::fmin(std::fmax(scaled, -128.0f), 127.0f)));
      });
  using FromFloat = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::QF322B8_PRE>;
  CheckConfig<FromFloat, float, int8_t>(
      Third, [] { SET_QUANT_SCALAR<uint8_t>(1.0f); },
      [](int8_t got, size_t row, size_t col) {
        const float held = std::fmin(std::fmax(std::nearbyint(Third(row, col)), 0.0f), 255.0f);
        EXPECT_EQ(static_cast<uint8_t>(got), static_cast<int>(held));
      });
}

TEST(PipeConvert, AWordForEachColumn) {
  using ToHalf = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::VDEQF16>;
  const auto scale = [](size_t col) { return static_cast<float>(col + 1) * 0.125f; };
  const auto prepare = [&] {
    Tile<TileType::Scaling, uint64_t, 1, 64> words;
    TASSIGN(words, 512);
    for (size_t col = 0; col < 64; ++col) words.data()[col] = test::BitsOf(scale(col));
    SET_QUANT_VECTOR(words);
  };
  CheckConfig<ToHalf, int32_t, half>(Whole, prepare, [&](half got, size_t row, size_t col) {
    const float exact = static_cast<float>(Whole(row, col)) * scale(col);
    EXPECT_EQ(test::BitsOf(got), test::BitsOf(static_cast<half>(exact)));
  });
}

TEST(PipeConvert, AnAtomicAddOntoWhatIsThere) {
  using Adds = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::NoQuant, ReluPreMode::NoRelu,
                             STPhase::Final, 0, AtomicType::AtomicAdd>;
  CheckConfig<Adds, float, float>(
      Third, kNothing, [](float got, size_t row, size_t col) { EXPECT_EQ(got, Third(row, col)); });
}

TEST(PipeConvert, QuantizationIsForgottenWithItsKernel) {
  uint64_t word = 1, table = 1;
  test::OnCube([] {
    SET_QUANT_SCALAR<int8_t>(2.0f);
    set_fpc(0x300);
    EXPECT_EQ(npu::current_core->quant_word, 0x400040000000u);
    EXPECT_EQ(npu::current_core->quant_table, 3u * 128);
    set_quant_pre(5);
    EXPECT_EQ(npu::current_core->quant_word, 5u);
  });
  test::OnCube([&] {
    word = npu::current_core->quant_word;
    table = npu::current_core->quant_table;
  });
  EXPECT_EQ(word, 0u);
  EXPECT_EQ(table, 0u);
}

TEST(PipeConvert, WhatCannotWorkIsNamed) {
  using Pipe = TPipe<0, DIR_C2V, 4096, 2>;
  std::vector<half> slots(4096);
  ExpectContains(MixedFault([&] {
                   Pipe pipe(slots.data(), 0, 0);
                   Acc<int32_t, 16, 64> acc(16, 64);
                   TASSIGN(acc, 0);
                   set_fpc(15 << 8);
                   using Words = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::VDEQF16>;
                   TPUSH<Pipe, Acc<int32_t, 16, 64>, Words>(pipe, acc);
                 }),
                 "TPUSH: expected quantization words of SET_QUANT_VECTOR that end within the 2048 "
                 "bytes of FB, got end 2432");
  ExpectContains(MixedFault([] {
                   Tile<TileType::Scaling, uint64_t, 1, 64> words;
                   SET_QUANT_VECTOR(words);
                 }),
                 "SET_QUANT_VECTOR: expected fp with an address from TASSIGN");
}

TEST(MultiPipe, PiecesOfALargerTileOfTheConsumer) {
  using Prod = TileAcc<float, 32, 32>;
  using Cons = Tile<TileType::Vec, float, 16, 128>;
  using Pipe = TMPipe<0, FIFOType::GM_FIFO, 2, 1, Prod, Cons>;
  std::vector<float> slots(2 * 32 * 128);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0);
        Prod acc;
        TASSIGN(acc, 0);
        for (int i = 0; i < 12; ++i) {
          const int piece = i % 4;
          FillPart(acc, i / 4, {0, 32 * piece, 32, 32});
          pipe.prod.setTileId(i / 4, piece);
          pipe.prod.setEntryOffset(piece * 32 * 32 * 4);
          pipe.prod.setAllocateStatus(piece == 0);
          pipe.prod.setRecordStatus(piece == 3);
          TPUSH(acc, pipe);
        }
      },
      [&] {
        Pipe pipe(slots.data(), 4096);
        Cons tile;
        for (int i = 0; i < 3; ++i) {
          pipe.cons.setTileId(i, 0);
          pipe.cons.setEntryOffset(SubBlock() * 16 * 32 * 4);
          TPOP(tile, pipe);
          TFREE(pipe);
          errors += test::Mismatches(tile, i, {16 * SubBlock(), 0, 16, 128});
        }
      });
  EXPECT_EQ(errors, 0);
}

TEST(MultiPipe, PiecesOfALargerTileOfTheProducer) {
  using Prod = Tile<TileType::Vec, half, 16, 128>;
  using Cons = Tile<TileType::Mat, half, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor>;
  using Pipe = TMPipe<6, FIFOType::GM_FIFO, 2, 1, Prod, Cons>;
  std::vector<half> slots(2 * 32 * 128);
  int errors = 0;
  OnMixed(
      [&] {
        Pipe pipe(slots.data(), 0);
        Cons tile;
        for (int i = 0; i < 3; ++i) {
          for (int piece = 0; piece < 2; ++piece) {
            pipe.cons.setTileId(i, piece);
            pipe.cons.setEntryOffset(piece * 32 * 64 * 2);
            pipe.cons.setWaitStatus(piece == 0);
            pipe.cons.setFreeStatus(piece == 1);
            TPOP(tile, pipe);
            errors += test::Mismatches(tile, i, {0, 64 * piece, 32, 64});
          }
        }
      },
      [&] {
        Pipe pipe(slots.data(), 0);
        Prod tile;
        TASSIGN(tile, 0);
        for (int i = 0; i < 3; ++i) {
          FillPart(tile, i, {16 * SubBlock(), 0, 16, 128});
          pipe.prod.setTileId(i, 0);
          pipe.prod.setEntryOffset(SubBlock() * 16 * 64 * 2);
          TPUSH(tile, pipe);
        }
      });
  EXPECT_EQ(errors, 0);
}

}  // namespace
