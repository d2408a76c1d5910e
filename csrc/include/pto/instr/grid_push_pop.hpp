// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/event.hpp"
#include "pto/grid_memory.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(void CheckGrid(const char* op, GridDirection direction, GridCoord coord,
                            GridShape shape, bool has_neighbor)) {
  constexpr const char* kNames[] = {"SOURCE", "NORTH", "EAST", "WEST", "SOUTH"};
  const npu::Core& core = npu::RunningCore(op);
  if (core.arch->generation != npu::Generation::kA3 && core.check_limits) {
    npu::RaiseFault(op, "a chip with a GridPipe (A2, A3)", core.arch->soc);
  }
  if (has_neighbor) return;
  npu::RaiseFault(op,
                  npu::Text("a core ") + (op[2] == 'U' ? "to the " : "that pushes to the ") +
                      kNames[static_cast<int>(direction)] + (op[2] == 'U' ? "" : ", here,") +
                      " in a grid of " + npu::TextOf(shape.gridRows) + "x" +
                      npu::TextOf(shape.gridCols),
                  "none of (" + npu::TextOf(coord.row) + ", " + npu::TextOf(coord.col) + ")");
}

NPU_ONE_BODY(NPU_RAISES void RaiseForeignSlot(int rank)) {
  npu::RaiseFault("TPOP", "a slot in the memory of core " + npu::TextOf(rank),
                  "one of another core");
}

/// The slot of tile number in direction, in the window of this core.
template <class Pipe>
inline neighbor_sram_addr GridSlot(Pipe& pipe, int direction, uint32_t number) {
  const uint32_t offset =
      number % static_cast<uint32_t>(Pipe::SlotCount) * static_cast<uint32_t>(Pipe::SlotBytes);
  return a2a3_grid_payload::LocalSramAddr(pipe.slotBase[direction] + offset);
}

/// Tile into the next slot of the core hops away in direction.
template <class Pipe, class TileT>
inline void WriteToGrid(Pipe& pipe, TileT& tile, GridDirection direction, int hops) {
  const int index = GridDirectionIndex(direction);
  const int rank = RankForPushK(direction, pipe.coord, pipe.shape, hops);
  neighbor_sram_addr slot;
  get_neighbor_sram_addr(slot, GridSlot(pipe, index, pipe.prodIndex[index]),
                         static_cast<uint32_t>(index), rank, {pipe.runtimeCtx});
  a2a3_grid_payload::CopyTileToNeighborSramSlot<TileT>(slot, tile, Pipe::SlotBytes);
}

/// Tells the core hops away that it is there.
template <class Pipe>
inline void RingInGrid(Pipe& pipe, GridDirection direction, int hops) {
  const int index = GridDirectionIndex(direction);
  const int rank = RankForPushK(direction, pipe.coord, pipe.shape, hops);
  const NeighborCounterOperand ready = {
      a2a3_grid_payload::RemoteCounterPtr(pipe.runtimeCtx, pipe.readyFlags[index], rank)};
  mtspr_neighbor_counter(NeighborCounterKind::Ready, static_cast<uint32_t>(index),
                         static_cast<uint32_t>(hops), pipe.prodIndex[index] + 1, ready);
}

/// What stands between the bytes of a tile and the counter that tells of them.
inline void PublishInGrid() {
  pipe_barrier(PIPE_ALL);
  dsb(DSB_DDR);
}

}  // namespace detail

/// tile to the core kHops away in kDirection, into a slot of its window, once one is free.
/// Source: PTO ISA, GridPipe (A2, A3).
template <GridDirection kDirection, int kHops = 1, class Pipe, class TileT, class... Events,
          std::enable_if_t<is_grid_pipe_v<Pipe>, int> = 0>
inline RecordEvent TPUSH(Pipe& pipe, TileT& tile, Events&... events) {
  static_assert(kDirection != GridDirection::SOURCE, "TPUSH: expected a direction in the grid");
  static_assert(kHops >= 1, "TPUSH: expected a positive number of hops");
  (events.Wait(), ...);
  constexpr int kIndex = GridDirectionIndex(kDirection);
  detail::CheckGrid("TPUSH", kDirection, pipe.coord, pipe.shape,
                    CanPushK(kDirection, pipe.coord, pipe.shape, kHops));
  const uint32_t number = pipe.prodIndex[kIndex];
  if (number >= static_cast<uint32_t>(Pipe::SlotCount)) {
    wfe_neighbor_counter(NeighborCounterKind::Free, kIndex,
                         number + 1 - static_cast<uint32_t>(Pipe::SlotCount),
                         {pipe.freeFlags[kIndex]});
  }
  detail::WriteToGrid(pipe, tile, kDirection, kHops);
  detail::PublishInGrid();
  detail::RingInGrid(pipe, kDirection, kHops);
  ++pipe.prodIndex[kIndex];
  return {};
}

/// tile to all other cores of the row or the column. There must be free slots: pushes to a span do
/// not wait for one.
template <GridSpan kSpan, class Pipe, class TileT, class... Events,
          std::enable_if_t<is_grid_pipe_v<Pipe>, int> = 0>
inline RecordEvent TPUSH(Pipe& pipe, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  constexpr GridDirection kArms[] = {SpanArmA(kSpan), SpanArmB(kSpan)};
  detail::CheckGrid("TPUSH", kArms[0], pipe.coord, pipe.shape, true);
  int cores[2] = {};
  for (int arm = 0; arm < 2; ++arm) {
    while (CanPushK(kArms[arm], pipe.coord, pipe.shape, cores[arm] + 1)) {
      detail::WriteToGrid(pipe, tile, kArms[arm], ++cores[arm]);
    }
  }
  if (cores[0] + cores[1] == 0) return {};
  detail::PublishInGrid();
  for (int arm = 0; arm < 2; ++arm) {
    for (int hops = 1; hops <= cores[arm]; ++hops) detail::RingInGrid(pipe, kArms[arm], hops);
    if (cores[arm] != 0) ++pipe.prodIndex[GridDirectionIndex(kArms[arm])];
  }
  return {};
}

/// tile = the next one that the core kHops away has pushed in kDirection, once it is there.
template <GridDirection kDirection, int kHops = 1, class Pipe, class TileT, class... Events,
          std::enable_if_t<is_grid_pipe_v<Pipe>, int> = 0>
inline RecordEvent TPOP(Pipe& pipe, TileT& tile, Events&... events) {
  static_assert(kHops >= 1, "TPOP: expected a positive number of hops");
  (events.Wait(), ...);
  constexpr int kIndex = GridDirectionIndex(kDirection);
  detail::CheckGrid("TPOP", kDirection, pipe.coord, pipe.shape,
                    CanPopK(kDirection, pipe.coord, pipe.shape, kHops));
  const uint32_t number = pipe.consIndex[kIndex];
  wfe_neighbor_counter(NeighborCounterKind::Ready, kIndex, number + 1, {pipe.readyFlags[kIndex]});
  const neighbor_sram_addr slot = detail::GridSlot(pipe, kIndex, number);
  const int rank = RankFromCoord(pipe.coord, pipe.shape);
  if (!sram_pop_is_local(slot, Pipe::SlotBytes, rank, {pipe.runtimeCtx})) {
    detail::RaiseForeignSlot(rank);
  }
  a2a3_grid_payload::CopyNeighborSramSlotToTile<TileT>(tile, slot, Pipe::SlotBytes);
  if constexpr (kDirection != GridDirection::SOURCE) {
    const int from = RankForPopK(kDirection, pipe.coord, pipe.shape, kHops);
    const NeighborCounterOperand free = {
        a2a3_grid_payload::RemoteCounterPtr(pipe.runtimeCtx, pipe.freeFlags[kIndex], from)};
    mtspr_neighbor_counter(NeighborCounterKind::Free, kIndex, kHops, number + 1, free);
  }
  pipe.consIndex[kIndex] = number + 1;
  return {};
}

}  // namespace pto
