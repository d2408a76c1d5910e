// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/instr/push_pop.hpp"

namespace pto {

/// A queue of tiles of one type through global memory, whose slots hold a larger tile of the
/// producer or of the consumer: it is pushed, or popped, in pieces of the other's columns. Flags
/// are FlagID and the next.
///   TileProd, TileCons  from Acc to Vec or from Vec to Mat
///   LocalFiFoDepth      buffers on the consumer's core, 0 where tiles have addresses of their own
/// Source: PTO ISA, TMPipe.
template <uint8_t FlagID, FIFOType FiFoType, uint8_t FiFoDepth, uint8_t FiFoSyncT, class TileProd,
          class TileCons, bool EN_UNIT_FLAG = false, uint8_t LocalFiFoDepth = 2,
          VecCubeRatio VCRatio = VecCubeRatio::V2C1_VECS>
struct TMPipe {
  static constexpr bool is_control = FiFoType == FIFOType::CTRL_FIFO;
  static_assert(FiFoType == FIFOType::GM_FIFO || is_control,
                "TMPipe: expected a queue in global memory or one of control words");
  static constexpr bool is_c2v = !is_control && TileProd::Loc == TileType::Acc;
  static constexpr bool is_v2c = !is_control && TileProd::Loc == TileType::Vec;

  using T = typename TileCons::DType;
  using DataFiFo = DataFIFO<T, FiFoType, FiFoDepth, FiFoSyncT, LocalFiFoDepth>;
  using Flags = detail::PipeFlags<FlagID, is_c2v ? DIR_C2V_GM : DIR_V2C_GM>;

  static constexpr int kRows = is_c2v ? TileProd::Rows : TileCons::Rows;  // of a slot
  static constexpr int kCols = is_c2v ? TileCons::Cols : TileProd::Cols;
  static constexpr int kPieceCols = is_c2v ? TileProd::Cols : TileCons::Cols;
  static_assert(FiFoDepth >= 1, "TMPipe: expected at least one slot");
  static_assert(is_control || kCols % kPieceCols == 0,
                "TMPipe: expected a larger tile of whole pieces");

  struct Side {
    int tile_id = 0;
    int sub_tile_id = 0;
    int entryOffset = 0;  // bytes

    void setTileId(int tile, int sub_tile) {
      tile_id = tile;
      sub_tile_id = sub_tile;
    }
    void setEntryOffset(int offset) { entryOffset = offset; }
    int getTileId() const { return tile_id; }
    int getSubTileId() const { return sub_tile_id; }

    char* Slot(const DataFiFo& fifo, size_t bytes) const {
      const size_t index = static_cast<size_t>(tile_id) % FiFoDepth;
      return reinterpret_cast<char*>(fifo.fifoBase) + index * bytes + entryOffset;
    }
    uint32_t* Word(const DataFiFo& fifo) const {
      return fifo.fifoBase == nullptr ? nullptr
                                      : reinterpret_cast<uint32_t*>(Slot(fifo, sizeof(uint32_t)));
    }
  };
  static constexpr size_t kSlotBytes = sizeof(T) * kRows * kCols;
  static constexpr int64_t kPieceBytes = int64_t{sizeof(T)} * kRows * kPieceCols;

  struct Producer : Side {
    bool isAllocate = true;
    bool isRecord = true;

    void setAllocateStatus(bool allocate) { isAllocate = allocate; }
    void setRecordStatus(bool record) { isRecord = record; }
    bool getAllocateStatus() const { return isAllocate; }
    bool getRecordStatus() const { return isRecord; }
    [[gnu::always_inline]] inline void allocate() const { Flags::Allocate(true); }
    [[gnu::always_inline]] inline void record() const { Flags::Record(true); }

    [[gnu::always_inline]] inline void push(DataFiFo& fifo, TileProd& tile) {
      if constexpr (is_control) {
        detail::PushWord(this->Word(fifo), tile);
      } else if constexpr (is_c2v) {
        auto global = detail::SlotAt<T>(this->Slot(fifo, kSlotBytes), TileProd::Rows,
                                        TileProd::Cols, TileProd::Cols);
        detail::TakeUnitFlag<EN_UNIT_FLAG ? STPhase::Final : STPhase::Unspecified>();
        TSTORE(global, tile);
      } else {
        Tile<TileType::Vec, T, TileProd::Rows, TileProd::Cols, BLayout::RowMajor, TileProd::Rows,
             kPieceCols>
            piece;
        for (int i = 0; i < kCols / kPieceCols; ++i) {
          piece.data() = tile.data() + i * kPieceCols;
          auto global = detail::SlotAt<T>(this->Slot(fifo, kSlotBytes) + i * kPieceBytes,
                                          TileProd::Rows, kPieceCols, kPieceCols);
          TSTORE(global, piece);
        }
      }
    }
  };

  struct Consumer : Side {
    bool isWait = true;
    bool isFree = true;

    void setWaitStatus(bool wait) { isWait = wait; }
    void setFreeStatus(bool free) { isFree = free; }
    bool getWaitStatus() const { return isWait; }
    bool getFreeStatus() const { return isFree; }
    [[gnu::always_inline]] inline void wait() const { Flags::Wait(true); }
    [[gnu::always_inline]] inline void free() const { Flags::Free(true); }

    [[gnu::always_inline]] inline void pop(DataFiFo& fifo, TileCons& tile) {
      if constexpr (is_control) {
        fifo.ctrlSignal = detail::PopWord(this->Word(fifo));
      } else {
        if constexpr (LocalFiFoDepth > 0) {
          const auto index = static_cast<size_t>(this->tile_id) % LocalFiFoDepth;
          detail::PopInPlace(tile, static_cast<int64_t>(fifo.localFiFoBase +
                                                        index * detail::kTileBytes<TileCons>));
        }
        if constexpr (is_c2v) {
          PopPieces(fifo, tile);
        } else {
          auto global = detail::SlotAt<T>(this->Slot(fifo, kSlotBytes), TileCons::Rows,
                                          TileCons::Cols, TileCons::Cols);
          TLOAD(tile, global);
        }
      }
    }

   private:
    [[gnu::always_inline]] inline void PopPieces(DataFiFo& fifo, TileCons& tile) {
      Tile<TileType::Vec, T, TileCons::Rows, TileCons::Cols, BLayout::RowMajor, TileCons::Rows,
           kPieceCols>
          piece;
      for (int i = 0; i < kCols / kPieceCols; ++i) {
        piece.data() = tile.data() + i * kPieceCols;
        auto global = detail::SlotAt<T>(this->Slot(fifo, kSlotBytes) + i * kPieceBytes,
                                        TileCons::Rows, kPieceCols, kPieceCols);
        TLOAD(piece, global);
      }
    }
  };

  DataFiFo fifo;
  Producer prod;
  Consumer cons;

  explicit TMPipe(T* slots, uint32_t local_buffer = 0) : fifo(slots, local_buffer) { cons.free(); }
  ~TMPipe() noexcept(false) {
    if (std::uncaught_exceptions() == 0) prod.allocate();
  }
};

namespace detail {

template <class T>
inline constexpr bool kIsMultiPipe = false;
template <uint8_t kFlag, FIFOType kType, uint8_t kDepth, uint8_t kSync, class Prod, class Cons,
          bool kUnitFlag, uint8_t kLocal, VecCubeRatio kRatio>
inline constexpr bool
    kIsMultiPipe<TMPipe<kFlag, kType, kDepth, kSync, Prod, Cons, kUnitFlag, kLocal, kRatio>> = true;

}  // namespace detail

/// TPUSH, TPOP and TFREE of a TMPipe.
template <class TileT, class Pipe, class... Events,
          std::enable_if_t<detail::kIsMultiPipe<Pipe>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUSH(TileT& tile, Pipe& pipe, Events&... events) {
  (events.Wait(), ...);
  if (pipe.prod.isAllocate) pipe.prod.allocate();
  pipe.prod.push(pipe.fifo, tile);
  ++pipe.prod.tile_id;
  if (pipe.prod.isRecord) pipe.prod.record();
  return {};
}

template <class TileT, class Pipe, class... Events,
          std::enable_if_t<detail::kIsMultiPipe<Pipe>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPOP(TileT& tile, Pipe& pipe, Events&... events) {
  (events.Wait(), ...);
  if (pipe.cons.isWait) pipe.cons.wait();
  pipe.cons.pop(pipe.fifo, tile);
  ++pipe.cons.tile_id;
  if (pipe.cons.isFree) pipe.cons.free();
  return {};
}

template <class Pipe, class... Events, std::enable_if_t<detail::kIsMultiPipe<Pipe>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TFREE(Pipe&, Events&... events) {
  (events.Wait(), ...);
  return {};
}

}  // namespace pto
