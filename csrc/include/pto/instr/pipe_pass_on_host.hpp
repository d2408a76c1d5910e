// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "pto/cpu/pipe_queues.hpp"
#include "pto/instr/pipe.hpp"

/// TPUSH and TPOP of a TPipe in kernels that host code calls: through its slots in global memory,
/// or those of its queues where it has none there.
namespace pto::detail {

/// Passes the next tile of one side: move(slot) once the slot is ready.
///   to_vector  the cube core produces and vector cores consume
template <bool kProduces, TileSplitAxis kSplit, class Pipe, class Move>
void PassOnHost(const char* op, Pipe& pipe, bool to_vector, int64_t sub_block, const Move& move) {
  auto& queues = Pipe::GetSharedState();
  const auto pass = [&](auto& queue) {
    using Queue = std::remove_reference_t<decltype(queue)>;
    PipeSide& side = kProduces ? static_cast<PipeSide&>(pipe.prod) : pipe.cons;
    const bool is_parted = kSplit != TILE_NO_SPLIT && to_vector != kProduces;
    const HostSlot<kProduces, Pipe, Queue> slot(queues.lock, queue, side.tileIndex, is_parted,
                                                sub_block);
    if (kProduces ? pipe.prod.isAllocate : pipe.cons.isWait) slot.Await(op);
    slot.Begin();
    move(slot, side);
    ++side.tileIndex;
    if (kProduces ? pipe.prod.isRecord : pipe.cons.isFree) slot.End();
  };
  if constexpr (Pipe::kBothProduce) {
    if (!to_vector) return pass(queues.of_vector_cores);
  }
  pass(static_cast<typename Pipe::HostQueueType&>(queues));
}

NPU_ONE_BODY(NPU_RAISES void RaiseSlotEnd(const char* op, uint64_t room, int64_t end)) {
  npu::RaiseFault(op,
                  "a tile that ends within the " + npu::TextOf(static_cast<int64_t>(room)) +
                      " bytes of two slots of a pipe without global memory",
                  "end " + npu::TextOf(end));
}

/// Where part of tile lies in a slot, as elements of T. Holds with checks off too.
template <class T, class Pipe, class Slot, class TileT>
char* PlaceInSlot(const char* op, Pipe& pipe, const Slot& slot, const PipeSide& side,
                  const SlotPart& part, const TileT& tile, bool to_vector) {
  if (Pipe::Flags::IsGlobal() && pipe.fifo.GM_SLOT_BUFFER != nullptr) {
    const bool is_behind = Pipe::is_both && !to_vector;
    return Pipe::GlobalSlot(pipe.fifo, side) + (is_behind ? Pipe::kGlobalBytes : 0);
  }
  const Extent moved = ValidExtent(tile);
  if (moved.rows == 0 || moved.cols == 0) return slot.OwnMemory();
  const int64_t elements = part.offset + static_cast<int64_t>(moved.rows - 1) * part.row_stride +
                           static_cast<int64_t>(moved.cols);
  const int64_t end = side.entryOffset + elements * static_cast<int64_t>(sizeof(T));
  const bool fits = side.entryOffset >= 0 && end <= static_cast<int64_t>(Pipe::kHostSlotBytes);
  if (!fits) RaiseSlotEnd(op, Pipe::kHostSlotBytes, end);
  return slot.OwnMemory() + side.entryOffset;
}

/// The word of control of a slot.
template <class Pipe, class Slot>
uint32_t* WordInSlot(const Pipe& pipe, const Slot& slot, const PipeSide& side) {
  uint32_t* const word = Pipe::Word(pipe.fifo, side);
  return word != nullptr ? word : reinterpret_cast<uint32_t*>(slot.OwnMemory());
}

/// True where host code calls the kernel, and tile is pushed.
template <TileSplitAxis kSplit, class Config, class Pipe, class TileT>
bool PushOnHost(Pipe& pipe, TileT& tile, int32_t sub_block) {
  if (!npu::TakesHostForms(npu::RunningCore("TPUSH"))) return false;
  constexpr bool kIsAcc = TileT::Loc == TileType::Acc;
  constexpr bool kToVector = Pipe::kBothProduce ? kIsAcc : Pipe::is_c2v;
  const auto push = [&](const auto& slot, const PipeSide& side) {
    if constexpr (Pipe::is_v2c_ctrl) {
      PushWord(WordInSlot(pipe, slot, side), tile);
    } else if constexpr (kIsAcc) {
      using T = FixpipeConsDType_t<Config::QuantPre, typename TileT::DType>;
      const SlotPart all = PartOf(TILE_NO_SPLIT, 0, tile.GetValidRow(), tile.GetValidCol());
      PushAccToGlobal<Config>(tile,
                              PlaceInSlot<T>("TPUSH", pipe, slot, side, all, tile, kToVector));
    } else {
      using T = typename TileT::DType;
      CheckSubBlock("TPUSH", kSplit, sub_block);
      const SlotPart part = PartOf(kSplit, sub_block, tile.GetValidRow(), tile.GetValidCol());
      PushToGlobal<kSplit>(tile, PlaceInSlot<T>("TPUSH", pipe, slot, side, part, tile, kToVector),
                           sub_block);
    }
  };
  PassOnHost<true, kSplit>("TPUSH", pipe, kToVector, sub_block, push);
  return true;
}

/// True where host code calls the kernel, and tile is popped: it stays where it has an address.
template <TileSplitAxis kSplit, class Pipe, class TileT>
bool PopOnHost(Pipe& pipe, TileT& tile, int32_t sub_block) {
  if (!npu::TakesHostForms(npu::RunningCore("TPOP"))) return false;
  constexpr bool kIsVec = TileT::Loc == TileType::Vec;
  constexpr bool kToVector = Pipe::kBothProduce ? kIsVec : Pipe::is_c2v;
  const auto pop = [&](const auto& slot, const PipeSide& side) {
    if constexpr (Pipe::is_v2c_ctrl) {
      pipe.fifo.ctrlSignal = PopWord(WordInSlot(pipe, slot, side));
    } else {
      using T = typename TileT::DType;
      constexpr TileSplitAxis kPart = kIsVec ? kSplit : TILE_NO_SPLIT;
      CheckSubBlock("TPOP", kPart, sub_block);
      const SlotPart part = PartOf(kPart, sub_block, tile.GetValidRow(), tile.GetValidCol());
      char* const memory = PlaceInSlot<T>("TPOP", pipe, slot, side, part, tile, kToVector);
      if (!npu::IsPlace(tile.data())) PopInPlace(tile, Pipe::LocalBuffer(pipe.fifo, side, tile));
      LoadPart(tile, memory, part);
    }
  };
  PassOnHost<false, kSplit>("TPOP", pipe, kToVector, sub_block, pop);
  return true;
}

}  // namespace pto::detail
