// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/sync.hpp"

/// A grid of cores, row by row, whose neighbours pass tiles to each other. Source: PTO ISA,
/// GridPipe.
namespace pto {

struct GridShape {
  int gridRows = 0;
  int gridCols = 0;
};

struct GridCoord {
  int row = 0;
  int col = 0;
};

/// Where a tile goes. SOURCE, for pops only: what the host has put there.
enum class GridDirection : uint8_t { SOURCE, NORTH, EAST, WEST, SOUTH };
inline constexpr int kGridDirectionCount = 5;

/// All cores of the row, or of the column, of the one that pushes.
enum class GridSpan : uint8_t { ROW, COL };

inline constexpr int kInvalidRank = -1;

constexpr int GridDirectionIndex(GridDirection direction) { return static_cast<int>(direction); }
constexpr GridDirection SpanArmA(GridSpan span) {
  return span == GridSpan::ROW ? GridDirection::EAST : GridDirection::NORTH;
}
constexpr GridDirection SpanArmB(GridSpan span) {
  return span == GridSpan::ROW ? GridDirection::WEST : GridDirection::SOUTH;
}

constexpr int RankFromCoord(GridCoord coord, GridShape shape) {
  return coord.row * shape.gridCols + coord.col;
}
inline GridCoord GetGridCoord(GridShape shape) {
  if (shape.gridCols <= 0) {
    npu::RaiseFault("GetGridCoord", "a grid of at least 1 column", npu::TextOf(shape.gridCols));
  }
  const int block = static_cast<int>(get_block_idx());
  return {block / shape.gridCols, block % shape.gridCols};
}

/// The core hops away in direction, whether there is one or not.
constexpr GridCoord NeighborForPushK(GridDirection direction, GridCoord from, int hops) {
  switch (direction) {
    case GridDirection::NORTH:
      return {from.row - hops, from.col};
    case GridDirection::SOUTH:
      return {from.row + hops, from.col};
    case GridDirection::EAST:
      return {from.row, from.col + hops};
    case GridDirection::WEST:
      return {from.row, from.col - hops};
    default:
      return from;
  }
}
/// The core that pushes hops far in direction to this one.
constexpr GridCoord NeighborForPopK(GridDirection direction, GridCoord to, int hops) {
  return NeighborForPushK(direction, to, -hops);
}

constexpr bool IsInGrid(GridCoord coord, GridShape shape) {
  return coord.row >= 0 && coord.col >= 0 && coord.row < shape.gridRows &&
         coord.col < shape.gridCols;
}
constexpr bool CanPushK(GridDirection direction, GridCoord from, GridShape shape, int hops) {
  return direction != GridDirection::SOURCE &&
         IsInGrid(NeighborForPushK(direction, from, hops), shape);
}
constexpr bool CanPopK(GridDirection direction, GridCoord to, GridShape shape, int hops) {
  return direction == GridDirection::SOURCE ||
         IsInGrid(NeighborForPopK(direction, to, hops), shape);
}
constexpr int RankForPushK(GridDirection direction, GridCoord from, GridShape shape, int hops) {
  return CanPushK(direction, from, shape, hops)
             ? RankFromCoord(NeighborForPushK(direction, from, hops), shape)
             : kInvalidRank;
}
constexpr int RankForPopK(GridDirection direction, GridCoord to, GridShape shape, int hops) {
  return CanPopK(direction, to, shape, hops)
             ? RankFromCoord(NeighborForPopK(direction, to, hops), shape)
             : kInvalidRank;
}

/// The same for the next core.
constexpr bool CanPush(GridDirection direction, GridCoord from, GridShape shape) {
  return CanPushK(direction, from, shape, 1);
}
constexpr bool CanPop(GridDirection direction, GridCoord to, GridShape shape) {
  return CanPopK(direction, to, shape, 1);
}
constexpr GridCoord NeighborForPush(GridDirection direction, GridCoord from) {
  return NeighborForPushK(direction, from, 1);
}
constexpr GridCoord NeighborForPop(GridDirection direction, GridCoord to) {
  return NeighborForPopK(direction, to, 1);
}
constexpr int NeighborRankForPush(GridDirection direction, GridCoord from, GridShape shape) {
  return RankForPushK(direction, from, shape, 1);
}
constexpr int NeighborRankForPop(GridDirection direction, GridCoord to, GridShape shape) {
  return RankForPopK(direction, to, shape, 1);
}

/// The queues of one core: one in each direction, with slots and counters in its window.
template <class TileT, int kSlotBytes, int kSlotCount>
struct GridPipe {
  static_assert(kSlotBytes > 0 && kSlotCount > 0, "GridPipe: expected slots");
  using TileType = TileT;
  static constexpr int SlotBytes = kSlotBytes;
  static constexpr int SlotCount = kSlotCount;

  GridShape shape{};
  GridCoord coord{};
  uint8_t* slotBase[kGridDirectionCount] = {};
  uint32_t* readyFlags[kGridDirectionCount] = {};  // tiles that have come
  uint32_t* freeFlags[kGridDirectionCount] = {};   // tiles of this core that were popped
  uint32_t prodIndex[kGridDirectionCount] = {};
  uint32_t consIndex[kGridDirectionCount] = {};
  void* runtimeCtx = nullptr;  // for whoever finds windows of other cores
  uint32_t pipeId = 0;
};

template <class T>
struct is_grid_pipe : std::false_type {};
template <class TileT, int kSlotBytes, int kSlotCount>
struct is_grid_pipe<GridPipe<TileT, kSlotBytes, kSlotCount>> : std::true_type {};
template <class T>
inline constexpr bool is_grid_pipe_v = is_grid_pipe<std::remove_reference_t<T>>::value;

/// Windows of cores in global memory: counters of ready and free tiles in all directions up to byte
/// 128, then the slots of all directions.
namespace a2a3_grid {

inline constexpr uint32_t kFlagsBytes = 128;
inline constexpr uint32_t kSlotRegionOffset = kFlagsBytes;

constexpr uint32_t kReadyFlagOffset(GridDirection direction) {
  return static_cast<uint32_t>(direction) * sizeof(uint32_t);
}
constexpr uint32_t kFreeFlagOffset(GridDirection direction) {
  return (kGridDirectionCount + static_cast<uint32_t>(direction)) * sizeof(uint32_t);
}
template <int kSlotBytes, int kSlotCount>
constexpr uint32_t kSlotRegionBytes() {
  return kGridDirectionCount * kSlotCount * kSlotBytes;
}
template <int kSlotBytes, int kSlotCount>
constexpr uint32_t kWindowBytes() {
  return kSlotRegionOffset + kSlotRegionBytes<kSlotBytes, kSlotCount>();
}
template <int kSlotBytes, int kSlotCount>
constexpr uint32_t kDirSlotRegionOffset(GridDirection direction) {
  return kSlotRegionOffset + static_cast<uint32_t>(direction) * kSlotCount * kSlotBytes;
}
template <class Pipe>
constexpr uint32_t WindowBytes() {
  return kWindowBytes<Pipe::SlotBytes, Pipe::SlotCount>();
}

/// pipe over window, that of the core at coord.
template <class Pipe>
inline void InitGridPipeFromWindow(Pipe& pipe, GridShape shape, GridCoord coord, uint8_t* window,
                                   void* context, uint32_t id) {
  pipe = {};
  pipe.shape = shape;
  pipe.coord = coord;
  pipe.runtimeCtx = context;
  pipe.pipeId = id;
  auto* const counters = reinterpret_cast<uint32_t*>(window);
  for (int i = 0; i < kGridDirectionCount; ++i) {
    pipe.readyFlags[i] = counters + i;
    pipe.freeFlags[i] = counters + kGridDirectionCount + i;
    pipe.slotBase[i] = window + kSlotRegionOffset + i * Pipe::SlotCount * Pipe::SlotBytes;
  }
}

}  // namespace a2a3_grid

}  // namespace pto
