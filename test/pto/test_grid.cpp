// SPDX-License-Identifier: Apache-2.0
// Tiles between the cores of a grid.
#include <cstring>
#include <vector>

#include "elements.hpp"
#include "pto/npu/a2a3/grid_intrinsic.hpp"
#include "pto/npu/a2a3/grid_pipe_runtime.hpp"

using SentTile = pto::Tile<pto::TileType::Vec, float, 4, 16>;
using GridOfTest = pto::GridPipe<SentTile, sizeof(float) * 4 * 16, 2>;
constexpr uint32_t kWindow = pto::a2a3_grid::WindowBytes<GridOfTest>();

// What a kernel brings: windows of all cores, one behind the other, from the context on.
namespace pto {
namespace a2a3_grid_payload {

inline neighbor_sram_addr LocalSramAddr(uint8_t* slot) {
  return {reinterpret_cast<uint64_t>(slot)};
}
inline uint32_t* RemoteCounterPtr(void* context, uint32_t* counter, int rank) {
  auto* const windows = static_cast<uint8_t*>(context);
  const auto offset = static_cast<size_t>(reinterpret_cast<uint8_t*>(counter) - windows) % kWindow;
  return reinterpret_cast<uint32_t*>(windows + static_cast<size_t>(rank) * kWindow + offset);
}
template <class TileT>
void CopyTileToNeighborSramSlot(neighbor_sram_addr slot, TileT& tile, int bytes) {
  copy_sram_to_neighbor_sram(slot, {reinterpret_cast<uint64_t>(tile.data())},
                             static_cast<uint32_t>(bytes), 0);
}
template <class TileT>
void CopyNeighborSramSlotToTile(TileT& tile, neighbor_sram_addr slot, int bytes) {
  copy_neighbor_sram_to_sram({reinterpret_cast<uint64_t>(tile.data())}, slot,
                             static_cast<uint32_t>(bytes), 0);
}

}  // namespace a2a3_grid_payload

namespace grid_sram_mock {

inline uint64_t MockGetNeighborSramAddr(void* context, uint64_t local, int32_t rank) {
  const auto windows = reinterpret_cast<uint64_t>(context);
  return windows + static_cast<uint64_t>(rank) * kWindow + (local - windows) % kWindow;
}
inline void MockCopySramToNeighborSram(neighbor_sram_addr to, neighbor_sram_addr from,
                                       uint32_t bytes, uint64_t) {
  std::memcpy(reinterpret_cast<void*>(to.value), reinterpret_cast<const void*>(from.value), bytes);
}
inline void MockCopyNeighborSramToSram(neighbor_sram_addr to, neighbor_sram_addr from,
                                       uint32_t bytes, uint64_t config) {
  MockCopySramToNeighborSram(to, from, bytes, config);
}
inline bool MockSramPopIsLocal(void* context, uint64_t slot, uint32_t bytes, int32_t rank) {
  const GmSramArena arena = {reinterpret_cast<uint64_t>(context), kWindow, 64};
  return arena.InSegment(rank, slot, bytes);
}

}  // namespace grid_sram_mock
}  // namespace pto

namespace {

using namespace pto;
using test::ExpectContains;

class Grid : public ::testing::Test {
 protected:
  /// Runs body(pipe, tile) on each core of rows x cols; tile has an address.
  template <class Body>
  void OnGrid(int rows, int cols, const Body& body) {
    windows_.assign(static_cast<size_t>(rows * cols) * kWindow, 0);
    const auto run = [&] { Run(rows, cols, body); };
    test::OnCore(run, static_cast<uint32_t>(rows * cols));
  }
  template <class Body>
  std::string FaultOnGrid(const Body& body) {
    windows_.assign(kWindow, 0);
    return test::FaultOf([&] { Run(1, 1, body); });
  }

  template <class Body>
  void Run(int rows, int cols, const Body& body) {
    const GridShape shape = {rows, cols};
    GridOfTest pipe;
    a2a3_grid::InitGridPipeFromWindow(pipe, shape, GetGridCoord(shape),
                                      windows_.data() + block_idx * kWindow, windows_.data(), 0);
    SentTile tile;
    TASSIGN(tile, 0);
    body(pipe, tile);
  }

  std::vector<uint8_t> windows_;
};

void FillAll(SentTile& tile, float value) {
  for (uint32_t i = 0; i < 64; ++i) tile.SetValue(i, value);
}
bool HoldsAll(const SentTile& tile, float value) {
  for (uint32_t i = 0; i < 64; ++i) {
    if (tile.GetValue(i) != value) return false;
  }
  return true;
}

/// Sends numbered tiles in kDirection to the core kHops away, more of them than there are slots.
template <GridDirection kDirection, int kHops>
void Pass(GridOfTest& pipe, SentTile& tile, std::vector<int>& errors) {
  const int rank = RankFromCoord(pipe.coord, pipe.shape);
  for (int i = 0; i < 7; ++i) {
    if (CanPushK(kDirection, pipe.coord, pipe.shape, kHops)) {
      FillAll(tile, static_cast<float>(rank * 100 + i));
      TPUSH<kDirection, kHops>(pipe, tile);
    }
    if (CanPopK(kDirection, pipe.coord, pipe.shape, kHops)) {
      TPOP<kDirection, kHops>(pipe, tile);
      const int from = RankForPopK(kDirection, pipe.coord, pipe.shape, kHops);
      errors[static_cast<size_t>(rank)] += !HoldsAll(tile, static_cast<float>(from * 100 + i));
    }
  }
}

TEST_F(Grid, TilesGoInEveryDirection) {
  std::vector<int> errors(12);
  OnGrid(3, 4, [&](GridOfTest& pipe, SentTile& tile) {
    Pass<GridDirection::EAST, 1>(pipe, tile, errors);
    Pass<GridDirection::WEST, 2>(pipe, tile, errors);
    Pass<GridDirection::NORTH, 1>(pipe, tile, errors);
    Pass<GridDirection::SOUTH, 2>(pipe, tile, errors);
  });
  EXPECT_EQ(errors, std::vector<int>(12));
}

TEST_F(Grid, ATileGoesToAWholeRow) {
  std::vector<float> got(5);
  OnGrid(1, 5, [&](GridOfTest& pipe, SentTile& tile) {
    if (pipe.coord.col == 2) {
      FillAll(tile, 7);
      TPUSH<GridSpan::ROW>(pipe, tile);
      return;
    }
    switch (pipe.coord.col) {
      case 0:
        TPOP<GridDirection::WEST, 2>(pipe, tile);
        break;
      case 1:
        TPOP<GridDirection::WEST>(pipe, tile);
        break;
      case 3:
        TPOP<GridDirection::EAST>(pipe, tile);
        break;
      default:
        TPOP<GridDirection::EAST, 2>(pipe, tile);
    }
    got[static_cast<size_t>(pipe.coord.col)] = tile.GetValue(63);
  });
  EXPECT_EQ(got, (std::vector<float>{7, 7, 0, 7, 7}));
}

TEST_F(Grid, OneWithoutColumnsIsNamed) {
  ExpectContains(test::FaultOf([] { GetGridCoord({1, 0}); }),
                 "GetGridCoord: expected a grid of at least 1 column, got 0");
}

TEST_F(Grid, EdgesAndForeignSlotsAreNamed) {
  ExpectContains(
      FaultOnGrid([](GridOfTest& pipe, SentTile& tile) { TPUSH<GridDirection::EAST>(pipe, tile); }),
      "TPUSH: expected a core to the EAST in a grid of 1x1, got none of (0, 0)");
  ExpectContains(
      FaultOnGrid([](GridOfTest& pipe, SentTile& tile) { TPOP<GridDirection::NORTH>(pipe, tile); }),
      "TPOP: expected a core that pushes to the NORTH, here, in a grid of 1x1");
  ExpectContains(FaultOnGrid([](GridOfTest& pipe, SentTile& tile) {
                   *pipe.readyFlags[0] = 1;
                   pipe.slotBase[0] -= kWindow;
                   TPOP<GridDirection::SOURCE>(pipe, tile);
                 }),
                 "TPOP: expected a slot in the memory of core 0, got one of another core");
  static_assert(RankForPushK(GridDirection::EAST, {0, 0}, {1, 4}, 2) == 2);
  static_assert(!CanPushK(GridDirection::EAST, {0, 2}, {1, 4}, 2));
}

}  // namespace
