// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pto/grid.hpp"
#include "pto/intrinsics.hpp"

/// Counters and memory of other cores of a grid. The kernel says where windows of others lie and
/// how bytes go there: the functions that are declared only are the kernel's.
namespace pto {

enum class NeighborCounterKind : uint8_t { Ready, Free };

struct NeighborCounterOperand {
  uint32_t* addr = nullptr;
};

/// Sets a counter of the core dist hops away.
[[gnu::always_inline]] inline void mtspr_neighbor_counter(NeighborCounterKind, uint32_t, uint32_t,
                                                          uint32_t value,
                                                          NeighborCounterOperand counter = {}) {
  npu::CountInstruction(npu::RunningCore("mtspr_neighbor_counter"));
  if (counter.addr == nullptr) return;
  detail::ReportUncached("mtspr_neighbor_counter", true, counter.addr);
  __atomic_store_n(counter.addr, value, __ATOMIC_RELEASE);
}

/// Waits until a counter of this core has come to threshold; other cores run meanwhile. False after
/// most looks at it, unless most is 0.
[[gnu::always_inline]] inline bool wfe_neighbor_counter(NeighborCounterKind, uint32_t,
                                                        uint32_t threshold,
                                                        NeighborCounterOperand counter = {},
                                                        uint32_t most = 0) {
  if (counter.addr == nullptr) return true;
  detail::ReportUncached("wfe_neighbor_counter", false, counter.addr);
  for (uint32_t looks = 1; __atomic_load_n(counter.addr, __ATOMIC_ACQUIRE) < threshold; ++looks) {
    if (most != 0 && looks >= most) return false;
    detail::LetOthersRun("wfe_neighbor_counter");
  }
  return true;
}

/// An address in the memory of a core.
struct neighbor_sram_addr {
  uint64_t value = 0;
};
struct NeighborSramOperand {
  void* runtimeCtx = nullptr;
};

/// Windows of all cores, one behind the other: who owns an address.
struct GmSramArena {
  uint64_t base = 0;
  uint64_t segBytes = 0;
  uint32_t numSegs = 0;

  constexpr uint64_t SegmentBase(int core) const {
    return base + static_cast<uint64_t>(core) * segBytes;
  }
  /// -1 where nobody does.
  constexpr int SegmentOf(uint64_t address) const {
    if (segBytes == 0 || address < base) return -1;
    const uint64_t core = (address - base) / segBytes;
    return core < numSegs ? static_cast<int>(core) : -1;
  }
  constexpr bool InSegment(int core, uint64_t address, uint64_t bytes) const {
    return core >= 0 && SegmentOf(address) == core &&
           bytes <= segBytes - (address - SegmentBase(core));
  }
};

namespace grid_sram_mock {

uint64_t MockGetNeighborSramAddr(void* context, uint64_t local, int32_t rank);
void MockCopySramToNeighborSram(neighbor_sram_addr to, neighbor_sram_addr from, uint32_t bytes,
                                uint64_t config);
void MockCopyNeighborSramToSram(neighbor_sram_addr to, neighbor_sram_addr from, uint32_t bytes,
                                uint64_t config);
bool MockSramPopIsLocal(void* context, uint64_t slot, uint32_t bytes, int32_t rank);

}  // namespace grid_sram_mock

inline void get_neighbor_sram_addr(neighbor_sram_addr& to, neighbor_sram_addr local, uint32_t,
                                   int32_t rank, NeighborSramOperand operand = {}) {
  to.value = grid_sram_mock::MockGetNeighborSramAddr(operand.runtimeCtx, local.value, rank);
}
inline void copy_sram_to_neighbor_sram(neighbor_sram_addr to, neighbor_sram_addr from,
                                       uint32_t bytes, uint64_t config) {
  grid_sram_mock::MockCopySramToNeighborSram(to, from, bytes, config);
}
inline void copy_neighbor_sram_to_sram(neighbor_sram_addr to, neighbor_sram_addr from,
                                       uint32_t bytes, uint64_t config) {
  grid_sram_mock::MockCopyNeighborSramToSram(to, from, bytes, config);
}
inline bool sram_pop_is_local(neighbor_sram_addr slot, uint32_t bytes, int32_t rank,
                              NeighborSramOperand operand = {}) {
  return grid_sram_mock::MockSramPopIsLocal(operand.runtimeCtx, slot.value, bytes, rank);
}

namespace a2a3_grid_payload {

template <class TileT>
void CopyTileToNeighborSramSlot(neighbor_sram_addr slot, TileT& tile, int bytes);
template <class TileT>
void CopyNeighborSramSlotToTile(TileT& tile, neighbor_sram_addr slot, int bytes);
neighbor_sram_addr LocalSramAddr(uint8_t* slot);
uint32_t* RemoteCounterPtr(void* context, uint32_t* counter, int rank);

}  // namespace a2a3_grid_payload

}  // namespace pto
