// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>

#include "pto/cpu/pipe_queues.hpp"
#include "pto/inner_flags.hpp"
#include "pto/instr/pipe_pop.hpp"
#include "pto/instr/pipe_push.hpp"
#include "pto/pipe_flags.hpp"

namespace pto {

namespace detail {

/// A side of a pipe: which tile comes next, and where in its slot.
struct PipeSide {
  uint32_t tileIndex = 0;
  uint32_t subTileIndex = 0;
  int entryOffset = 0;  // bytes

  void setTileId(int tile, int sub_tile) {
    tileIndex = static_cast<uint32_t>(tile);
    subTileIndex = static_cast<uint32_t>(sub_tile);
  }
  void setEntryOffset(int offset) { entryOffset = offset; }
  int getTileId() const { return static_cast<int>(tileIndex); }
  int getSubTileId() const { return static_cast<int>(subTileIndex); }
};

}  // namespace detail

/// A queue of tiles between the cube core and the vector cores of a block: in global memory, on A5
/// also straight into the memory of the consumer. Both sides make one. Its flags are FlagID and the
/// next (where both produce: the next three).
///   DirType            of enum Direction: who produces
///   SlotSize, SlotNum  bytes of a slot, and how many there are: on the chip, too, an odd number
///                      above 3 lets the push that comes first to a slot again not wait for it
///   LocalSlotNum       buffers on the consumer's core for tiles from global memory
///   IsNoSplit          one vector core takes part (A5), until a push says otherwise
/// The constructor takes the slots in global memory, and where in UB of the vector cores and in L1
/// of the cube core tiles arrive. A5, too, counts free slots as A2 and A3 do: of the chip's headers
/// those of A5 let a fast producer overrun a slow consumer. Source: PTO ISA, TPipe.
template <uint8_t FlagID, uint8_t DirType, uint32_t SlotSize, uint32_t SlotNum,
          uint32_t LocalSlotNum = 2, bool IsNoSplit = false, bool EN_UNIT_FLAG = false>
struct TPipe {
  static constexpr uint8_t DIR_MASK = 7;
  static constexpr uint8_t DIR_TYPE = DIR_MASK & DirType;
  static constexpr bool is_c2v_gm = DIR_TYPE == DIR_C2V_GM;
  static constexpr bool is_v2c_gm = DIR_TYPE == DIR_V2C_GM;
  static constexpr bool is_both_gm = DIR_TYPE == DIR_BOTH_GM;
  static constexpr bool is_c2v = DIR_TYPE == DIR_C2V || is_c2v_gm;
  static constexpr bool is_v2c = DIR_TYPE == DIR_V2C || is_v2c_gm;
  static constexpr bool is_both = DIR_TYPE == DIR_BOTH;
  static constexpr bool is_v2c_ctrl = DIR_TYPE == DIR_V2C_CTRL;
  static_assert(SlotNum >= 1, "TPipe: expected at least one slot");
  // Free slots are told of in groups, each by one flag.
  static constexpr uint32_t SyncPeriod = SlotNum <= 2 ? SlotNum : SlotNum / 2;

  using RingFiFo = RingFIFO<SlotSize, SlotNum, LocalSlotNum>;
  using Flags = detail::PipeFlags<FlagID, DIR_TYPE>;

  static constexpr bool shouldWaitFree(uint32_t tile) {
    return tile >= SlotNum && tile % SyncPeriod == 0;
  }
  static constexpr bool shouldNotifyFree(uint32_t tile) { return (tile + 1) % SyncPeriod == 0; }
  /// Notices of free slots that no push has waited for, when all of count tiles are popped.
  static constexpr uint32_t countPendingFreeCredits(uint32_t count) {
    constexpr uint32_t kFirst = (SlotNum + SyncPeriod - 1) / SyncPeriod;
    const uint32_t given = count / SyncPeriod;
    const uint32_t awaited = count <= SlotNum ? 0 : (count + SyncPeriod - 1) / SyncPeriod - kFirst;
    return given > awaited ? given - awaited : 0;
  }

  /// Where the slot of a side starts: in slots of bytes each that follow base.
  static int64_t SlotFrom(int64_t base, uint32_t slots, int64_t bytes,
                          const detail::PipeSide& side) {
    return base + int64_t{side.tileIndex % slots} * bytes + side.entryOffset;
  }
  static char* GlobalSlot(const RingFiFo& fifo, const detail::PipeSide& side) {
    return static_cast<char*>(fifo.GM_SLOT_BUFFER) + SlotFrom(0, SlotNum, SlotSize, side);
  }
  static uint32_t* Word(const RingFiFo& fifo, const detail::PipeSide& side) {
    if (fifo.GM_SLOT_BUFFER == nullptr) return nullptr;
    char* const slots = static_cast<char*>(fifo.GM_SLOT_BUFFER);
    return reinterpret_cast<uint32_t*>(slots + SlotFrom(0, SlotNum, sizeof(uint32_t), side));
  }

  /// Where a tile from global memory arrives on the consumer's core.
  template <class TileT>
  static int64_t LocalBuffer(const RingFiFo& fifo, const detail::PipeSide& side, const TileT&) {
    constexpr bool kIsVec = TileT::Loc == TileType::Vec;
    const int64_t bytes = Flags::IsA3() ? SlotSize : detail::kTileBytes<TileT>;
    constexpr uint32_t kBuffers = LocalSlotNum > 0 ? LocalSlotNum : 1;
    return int64_t{kIsVec ? fifo.C2V_CONSUMER_BUF : fifo.V2C_CONSUMER_BUF} +
           int64_t{side.tileIndex % kBuffers} * bytes;
  }

#ifdef __CPU_SIM
  // What threads of host code share of all pipes of this type, under names of simulators.
  static constexpr bool kBothProduce = is_both || is_both_gm;
  static constexpr uint32_t kSlots = SlotNum;
  static constexpr uint32_t kGlobalBytes = SlotNum * SlotSize;    // of one direction
  static constexpr size_t kHostSlotBytes = 2 * size_t{SlotSize};  // parts of both vector cores
  using HostQueueType = detail::HostQueue<SlotNum, kHostSlotBytes>;
  using SharedStateStorage = detail::HostQueues<SlotNum, kHostSlotBytes, kBothProduce>;

  static SharedStateStorage& GetSharedState() {
    static const char kTag = 0;
    return detail::QueuesOnHost<SharedStateStorage>(kTag);
  }
  static void reset_for_cpu_sim() {
    std::memset(static_cast<void*>(&GetSharedState()), 0, sizeof(SharedStateStorage));
  }
#endif

  struct Producer : detail::PipeSide {
    bool isAllocate = true;       // push waits for a free slot
    bool isRecord = true;         // push tells the consumer
    bool is_parted = !IsNoSplit;  // both vector cores take part

    void setAllocateStatus(bool allocate) { isAllocate = allocate; }
    void setRecordStatus(bool record) { isRecord = record; }
    bool getAllocateStatus() const { return isAllocate; }
    bool getRecordStatus() const { return isRecord; }

    template <TileSplitAxis kSplit = TILE_UP_DOWN>
    [[gnu::always_inline]] inline void allocate() const {
      Flags::Allocate(kSplit != TILE_NO_SPLIT);
    }
    template <TileSplitAxis kSplit = TILE_UP_DOWN>
    [[gnu::always_inline]] inline void record() const {
      Flags::Record(kSplit != TILE_NO_SPLIT);
    }

    /// On the core that does not produce: nothing.
    template <class TileT, TileSplitAxis kSplit>
    [[gnu::always_inline]] inline void push(RingFiFo& fifo, TileT& tile, int32_t sub_block) {
      if (!Flags::Produces()) return;
      if constexpr (is_v2c_ctrl) {
        detail::PushWord(Word(fifo, *this), tile);
      } else if constexpr (TileT::Loc == TileType::Acc) {
        PushAcc<kSplit, FixpipeParams<>>(fifo, tile);
      } else {
        static_assert(detail::kForHost || TileT::Loc == TileType::Vec,
                      "TPUSH: expected an Acc or Vec tile");
        if (SlotNum > 1) detail::CheckSlot(tile, SlotSize, kSplit, sub_block);
        if (Flags::IsGlobal()) {
          return detail::PushToGlobal<kSplit>(tile, GlobalSlot(fifo, *this), sub_block);
        }
        const int64_t there = SlotFrom(fifo.V2C_CONSUMER_BUF, SlotNum, SlotSize, *this);
        detail::PushToCube<kSplit>(tile, static_cast<uint64_t>(there), sub_block);
        npu::KeepCallSite();
      }
    }

    /// Of an accumulator, converted as Config, FixpipeParams, says.
    template <class TileT, class Config>
    [[gnu::always_inline]] inline void push(RingFiFo& fifo, TileT& tile) {
      static_assert(TileT::Loc == TileType::Acc, "TPUSH: expected an Acc tile with FixpipeParams");
      if (!is_v2c && Flags::IsCube()) PushAcc<TILE_NO_SPLIT, Config>(fifo, tile);
    }

   private:
    template <TileSplitAxis kSplit, class Config, class TileT>
    [[gnu::always_inline]] inline void PushAcc(RingFiFo& fifo, TileT& tile) {
      detail::TakeUnitFlag<EN_UNIT_FLAG ? STPhase::Final : Config::Phase>();
      using T = FixpipeConsDType_t<Config::QuantPre, typename TileT::DType>;
      // From core to core a slot holds what one vector core gets.
      const uint64_t parts = !Flags::IsGlobal() && kSplit != TILE_NO_SPLIT ? 2 : 1;
      if (SlotNum > 1) detail::CheckSlot<TileT, sizeof(T)>(tile, SlotSize * parts);
      if (Flags::IsGlobal()) return detail::PushAccToGlobal<Config>(tile, GlobalSlot(fifo, *this));
      const int64_t there = SlotFrom(fifo.C2V_CONSUMER_BUF, SlotNum, SlotSize, *this);
      detail::PushAccToVector<kSplit, Config>(tile, static_cast<uint64_t>(there));
    }
  };

  struct Consumer : detail::PipeSide {
    bool isWait = true;  // pop waits for a tile
    bool isFree = true;  // pop, or free, tells the producer

    void setWaitStatus(bool wait) { isWait = wait; }
    void setFreeStatus(bool free) { isFree = free; }
    bool getWaitStatus() const { return isWait; }
    bool getFreeStatus() const { return isFree; }

    template <TileSplitAxis kSplit = TILE_UP_DOWN>
    [[gnu::always_inline]] inline void wait() const {
      Flags::Wait(kSplit != TILE_NO_SPLIT);
    }
    template <TileSplitAxis kSplit = TILE_UP_DOWN>
    [[gnu::always_inline]] inline void free() const {
      Flags::Free(kSplit != TILE_NO_SPLIT);
    }

    /// True where its slot is free from here on: the tile was copied.
    template <class TileT, TileSplitAxis kSplit>
    [[gnu::always_inline]] inline bool pop(RingFiFo& fifo, TileT& tile, int32_t sub_block) {
      if constexpr (is_v2c_ctrl) {
        fifo.ctrlSignal = detail::PopWord(Word(fifo, *this));
        return Flags::IsA3();
      } else {
        static_assert(TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat,
                      "TPOP: expected a Vec or Mat tile");
        const uint32_t base =
            TileT::Loc == TileType::Vec ? fifo.C2V_CONSUMER_BUF : fifo.V2C_CONSUMER_BUF;
        if (!Flags::IsGlobal()) {
          detail::PopInPlace(tile, SlotFrom(base, SlotNum, SlotSize, *this));
          return false;
        }
        const int64_t here = LocalBuffer(fifo, *this, tile);
        detail::PopFromGlobal<kSplit>(tile, GlobalSlot(fifo, *this), here, sub_block);
        return true;
      }
    }
  };

  /// Whether host code calls the kernel: then there are no flags.
  static bool IsOnHost() {
    return detail::kForHost && npu::TakesHostForms(npu::RunningCore("TPipe"));
  }

  RingFiFo fifo;
  Producer prod;
  Consumer cons;

  TPipe(void* slots, uint32_t c2v_buffer, uint32_t v2c_buffer)
      : fifo(slots, c2v_buffer, v2c_buffer) {
    if (Flags::IsA3() && DIR_TYPE > DIR_V2C_CTRL) detail::RaiseDirection(DIR_TYPE);
    if (IsOnHost() || !Flags::IsA3()) return;
    // The slots of the vector cores lie behind those of the cube core.
    constexpr int kBehind = static_cast<int>(SlotNum * SlotSize);
    if (is_both) (Flags::IsCube() ? cons.entryOffset : prod.entryOffset) = kBehind;
  }

  /// Takes the notices of free slots that are left, so that the flags are as before.
  ~TPipe() noexcept(false) {
    if (std::uncaught_exceptions() != 0 || IsOnHost()) return;
    const uint32_t left = countPendingFreeCredits(prod.tileIndex);
    for (uint32_t i = 0; i < left; ++i) Flags::Allocate(prod.is_parted);
  }
};

}  // namespace pto
