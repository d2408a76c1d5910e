// SPDX-License-Identifier: Apache-2.0
// Queues between cube and vector cores in kernels that host code calls: threads share them, and one
// thread may be both sides in turn.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pto/pto-inst.hpp>
#include <thread>
#include <vector>

#include "host_fault.hpp"

namespace {

using namespace pto;
using cpu_sim::ScopedExecutionContext;
using host_test::FaultOf;

constexpr uint32_t kTileBytes = 16 * 16 * sizeof(float);
using Whole = Tile<TileType::Vec, float, 16, 16>;
using Upper = Tile<TileType::Vec, float, 8, 16>;
using Left = Tile<TileType::Vec, float, 16, 8>;
using InL1 = Tile<TileType::Mat, float, 16, 16>;
using AccTile = TileAcc<float, 16, 16>;

template <class TileT>
void Number(TileT& tile, int first) {
  for (int i = 0; i < TileT::Numel; ++i) tile.data()[i] = static_cast<float>(first + i);
}

template <class TileT>
float First(const TileT& tile) {
  return tile.data()[0];
}

TEST(PipesOnHost, OneThreadIsTheCubeCoreAndThenAVectorCore) {
  using Pipe = TPipe<0, DIR_C2V, 16 * 16 * sizeof(half), 2, 2, true>;
  using Config = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::F322F16>;
  Pipe pipe(nullptr, 0x0, 0x0);
  AccTile acc;
  Tile<TileType::Vec, half, 16, 16> half_tile;
  TASSIGN(acc, 0);
  TASSIGN(half_tile, 0x1000);
  for (int round = 0; round < 5; ++round) {
    Number(acc, round);
    TPUSH<Pipe, AccTile, Config>(pipe, acc);
    TPOP<Pipe, decltype(half_tile), TILE_NO_SPLIT>(pipe, half_tile);
    TFREE<Pipe, TILE_NO_SPLIT>(pipe);
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(static_cast<float>(half_tile.data()[i]), static_cast<float>(round + i));
  }
}

TEST(PipesOnHost, APushQuantizesByTheWordsOfTheSameThread) {
  using Pipe = TPipe<0, DIR_C2V, 16 * 16 * sizeof(half), 2, 2, true>;
  using Config = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::VDEQF16>;
  Pipe pipe(nullptr, 0x0, 0x0);
  TileAcc<int32_t, 16, 16> acc;
  Tile<TileType::Vec, half, 16, 16> half_tile;
  Tile<TileType::Scaling, uint64_t, 1, 16> words;
  TASSIGN(acc, 0);
  TASSIGN(half_tile, 0x1000);
  TASSIGN(words, 0);
  for (int i = 0; i < 256; ++i) acc.data()[i] = i;
  for (int i = 0; i < 16; ++i) {
    const auto scale = static_cast<float>(i % 4 + 1);
    uint32_t bits;
    std::memcpy(&bits, &scale, sizeof(bits));
    words.data()[i] = bits;
  }
  SET_QUANT_VECTOR(words);
  TPUSH<Pipe, decltype(acc), Config>(pipe, acc);
  TPOP<Pipe, decltype(half_tile), TILE_NO_SPLIT>(pipe, half_tile);
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(static_cast<float>(half_tile.data()[i]), static_cast<float>(i * (i % 4 + 1))) << i;
}

TEST(PipesOnHost, ASlotIsFullOnceBothVectorCoresHaveGivenTheirPart) {
  using Pipe = TPipe<2, DIR_V2C, kTileBytes, 2>;
  Pipe::reset_for_cpu_sim();
  Pipe first(nullptr, 0x0, 0x10000), second(nullptr, 0x0, 0x10000), cube(nullptr, 0x0, 0x10000);
  Left left, right;
  InL1 whole;
  TASSIGN(left, 0);
  TASSIGN(right, 0x1000);
  TASSIGN(whole, 0);
  Number(left, 1);
  Number(right, 1001);
  const auto& state = Pipe::GetSharedState();
  {
    const ScopedExecutionContext core(0, 0, 2);
    TPUSH<Pipe, Left, TILE_LEFT_RIGHT>(first, left);
  }
  EXPECT_EQ(state.occupied, 0);
  EXPECT_EQ(state.producers_done[0], 1u);
  EXPECT_EQ(state.producers_allocated[0], 1u);
  {
    const ScopedExecutionContext core(0, 1, 2);
    TPUSH<Pipe, Left, TILE_LEFT_RIGHT>(second, right);
  }
  EXPECT_EQ(state.occupied, 1);
  EXPECT_EQ(state.next_producer_slot, 1);
  EXPECT_EQ(state.producers_done[0], 0u);
  EXPECT_EQ(state.producers_allocated[0], 0u);
  TPOP<Pipe, InL1, TILE_LEFT_RIGHT>(cube, whole);
  TFREE<Pipe, TILE_LEFT_RIGHT>(cube);
  EXPECT_EQ(state.occupied, 0);
  EXPECT_EQ(state.next_consumer_slot, 1);
  for (int i = 0; i < 256; ++i) {
    const auto& half_tile = i % 16 < 8 ? left : right;
    EXPECT_EQ(whole.data()[i], half_tile.data()[i / 16 * 8 + i % 8]) << i;
  }
}

TEST(PipesOnHost, ASlotIsFreeOnceBothVectorCoresHaveTakenTheirPart) {
  using Pipe = TPipe<4, DIR_C2V, kTileBytes / 2, 1>;
  Pipe::reset_for_cpu_sim();
  Pipe cube(nullptr, 0x0, 0x0), first(nullptr, 0x0, 0x0), second(nullptr, 0x0, 0x0);
  AccTile acc;
  Upper upper, lower;
  TASSIGN(acc, 0);
  TASSIGN(upper, 0);
  TASSIGN(lower, 0x1000);
  for (int round = 0; round < 3; ++round) {
    Number(acc, round * 1000);
    TPUSH<Pipe, AccTile, TILE_UP_DOWN>(cube, acc);
    {
      const ScopedExecutionContext core(0, 0, 2);
      TPOP<Pipe, Upper, TILE_UP_DOWN>(first, upper);
    }
    EXPECT_EQ(Pipe::GetSharedState().occupied, 1);
    {
      const ScopedExecutionContext core(0, 1, 2);
      TPOP<Pipe, Upper, TILE_UP_DOWN>(second, lower);
    }
    EXPECT_EQ(Pipe::GetSharedState().occupied, 0);
    for (int i = 0; i < 128; ++i) {
      EXPECT_EQ(upper.data()[i], acc.data()[i]) << i;
      EXPECT_EQ(lower.data()[i], acc.data()[128 + i]) << i;
    }
  }
}

TEST(PipesOnHost, ThreadsPassTilesThroughGlobalMemoryInOrder) {
  using Pipe = TPipe<1, DIR_C2V, kTileBytes, 3, 0>;
  constexpr int kRounds = 50;
  std::vector<float> slots(3 * 256);
  Pipe::reset_for_cpu_sim();
  Pipe pipe(slots.data(), 0x0, 0x0);
  std::array<float, kRounds> got = {};
  std::thread consumer([&] {
    for (float& number : got) {
      Whole tile;
      TASSIGN(tile, 0);
      TPOP(tile, pipe);
      TFREE(pipe);
      number = First(tile);
    }
  });
  std::thread producer([&] {
    for (int round = 0; round < kRounds; ++round) {
      Whole tile;
      TASSIGN(tile, 0);
      Number(tile, round + 1);
      TPUSH(tile, pipe);
    }
  });
  producer.join();
  consumer.join();
  for (int round = 0; round < kRounds; ++round)
    EXPECT_EQ(got[static_cast<size_t>(round)], static_cast<float>(round + 1));
  EXPECT_EQ(slots[0], 49.0f);  // rounds 0, 3 .. 48
}

TEST(PipesOnHost, ThreadsWaitForTheirOwnDirection) {
  using Pipe = TPipe<7, DIR_BOTH, kTileBytes, 2>;
  Pipe::reset_for_cpu_sim();
  Pipe vector(nullptr, 0x0, 0x10000), cube(nullptr, 0x0, 0x10000);
  Whole pushed, popped;
  InL1 in_l1;
  AccTile acc;
  TASSIGN(pushed, 0);
  TASSIGN(popped, 0x1000);
  TASSIGN(in_l1, 0);
  TASSIGN(acc, 0);
  Number(pushed, 1);
  Number(acc, 501);
  TPUSH<Pipe, Whole, TILE_NO_SPLIT>(vector, pushed);
  std::atomic<bool> is_done = false;
  std::thread waits([&] {
    TPOP<Pipe, Whole, TILE_NO_SPLIT>(vector, popped);
    is_done = true;
  });
  TPOP<Pipe, InL1, TILE_NO_SPLIT>(cube, in_l1);
  EXPECT_FALSE(is_done);
  TPUSH<Pipe, AccTile, TILE_NO_SPLIT>(cube, acc);
  waits.join();
  EXPECT_EQ(First(in_l1), 1.0f);
  EXPECT_EQ(First(popped), 501.0f);
}

TEST(PipesOnHost, ATileWithoutAddressIsPlacedInTheBufferOfThePipe) {
  using Pipe = TPipe<5, DIR_C2V, kTileBytes, 2>;
  Pipe::reset_for_cpu_sim();
  Pipe pipe(nullptr, 0x8000, 0x0);
  AccTile acc;
  TASSIGN(acc, 0);
  Number(acc, 3);
  TPUSH<Pipe, AccTile, TILE_NO_SPLIT>(pipe, acc);
  Whole there, tile;
  TASSIGN(there, 0x8000);
  TPOP<Pipe, Whole, TILE_NO_SPLIT>(pipe, tile);
  EXPECT_EQ(tile.data(), there.data());
  EXPECT_EQ(First(tile), 3.0f);
}

TEST(PipesOnHost, TheEndOfAStreamEmptiesThem) {
  using Pipe = TPipe<8, DIR_C2V, kTileBytes, 1>;
  AccTile acc;
  TASSIGN(acc, 0);
  for (int round = 0; round < 2; ++round) {
    Pipe pipe(nullptr, 0x0, 0x0);
    TPUSH<Pipe, AccTile, TILE_NO_SPLIT>(pipe, acc);  // nobody takes it
    EXPECT_EQ(Pipe::GetSharedState().occupied, 1);
    npu::EndHostKernel();
    EXPECT_EQ(Pipe::GetSharedState().occupied, 0);
  }
}

TEST(PipesOnHost, SaysWhenATileDoesNotFitIntoASlot) {
  using Pipe = TPipe<9, DIR_C2V, 64, 1>;
  Pipe pipe(nullptr, 0x0, 0x0);
  AccTile acc;
  TASSIGN(acc, 0);
  const std::string message = FaultOf([&] { TPUSH<Pipe, AccTile, TILE_NO_SPLIT>(pipe, acc); });
  EXPECT_NE(message.find("TPUSH: expected a tile that ends within the 128 bytes of two slots of a "
                         "pipe without global memory, got end 1024"),
            std::string::npos)
      << message;
}

struct Given {
  uint64_t key = 0;
  size_t bytes = 0;
  void* memory = nullptr;
};
Given given;

uint32_t SubBlockSeven() { return 7; }
void* GiveMemory(uint64_t key, size_t bytes) {
  given.key = key;
  given.bytes = bytes;
  return given.memory;
}

TEST(PipesOnHost, AProgramMayGiveMemoryAndVectorCoreItself) {
  using Pipe = TPipe<6, DIR_C2V, kTileBytes, 1>;
  Pipe::SharedStateStorage storage = {};
  given.memory = &storage;
  cpu_sim::register_hooks(reinterpret_cast<void*>(SubBlockSeven),
                          reinterpret_cast<void*>(GiveMemory));
  cpu_sim::set_execution_context(0, 1, 2);
  EXPECT_EQ(get_subblockid(), 7);
  EXPECT_EQ(&Pipe::GetSharedState(), &storage);
  EXPECT_EQ(given.bytes, sizeof(storage));
  EXPECT_NE(given.key, 0u);
  cpu_sim::register_hooks(nullptr, nullptr);
  cpu_sim::reset_execution_context();
  EXPECT_EQ(get_subblockid(), 0);
  EXPECT_NE(&Pipe::GetSharedState(), &storage);
}

}  // namespace
