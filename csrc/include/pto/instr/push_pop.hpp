// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/event.hpp"
#include "pto/instr/pipe.hpp"
#include "pto/instr/pipe_pass_on_host.hpp"
#include "pto/instr/quant_config.hpp"

namespace pto {

namespace detail {

/// Waits for a free slot.
template <TileSplitAxis kSplit, class Pipe>
[[gnu::always_inline]] inline void Reserve(Pipe& pipe) {
  auto& producer = pipe.prod;
  producer.is_parted = kSplit != TILE_NO_SPLIT;
  if (producer.isAllocate && Pipe::shouldWaitFree(producer.tileIndex)) {
    producer.template allocate<kSplit>();
  }
}

template <TileSplitAxis kSplit, class Pipe, class Push>
[[gnu::always_inline]] inline void PushNext(Pipe& pipe, const Push& push) {
  Reserve<kSplit>(pipe);
  auto& producer = pipe.prod;
  push();
  ++producer.tileIndex;
  if (producer.isRecord) producer.template record<kSplit>();
}

template <class TileT, TileSplitAxis kSplit, class Pipe>
[[gnu::always_inline]] inline void PopNext(Pipe& pipe, TileT& tile, int32_t sub_block) {
  auto& consumer = pipe.cons;
  if (consumer.isWait) consumer.template wait<kSplit>();
  const bool is_copied = consumer.template pop<TileT, kSplit>(pipe.fifo, tile, sub_block);
  if (is_copied && consumer.isFree && Pipe::shouldNotifyFree(consumer.tileIndex)) {
    consumer.template free<kSplit>();
  }
  ++consumer.tileIndex;
}

NPU_ONE_BODY(NPU_RAISES void RaiseNotGlobal(const char* op)) {
  npu::RaiseFault(op, "a pipe with slots in global memory (DIR_C2V_GM, DIR_V2C_GM, DIR_BOTH_GM)",
                  "one from core to core");
}

/// global at the slot of side; a vector core gets its part.
template <TileSplitAxis kSplit, class Pipe, class Global>
inline void AssignSlot(const char* op, Pipe& pipe, const PipeSide& side, Global& global) {
  using T = typename Global::RawDType;
  if (!Pipe::Flags::IsGlobal()) RaiseNotGlobal(op);
  const npu::Core& core = npu::RunningCore(op);
  const bool is_parted = core.type == npu::CoreType::kVector;
  const SlotPart part = PartOf(is_parted ? kSplit : TILE_NO_SPLIT, core.sub_block_id,
                               global.GetShape(3), global.GetShape(4));
  char* const slot = Pipe::GlobalSlot(pipe.fifo, side);
  global.data() = reinterpret_cast<typename Global::DType*>(
      slot + part.offset * static_cast<int64_t>(sizeof(T)));
}

inline int32_t SubBlock() { return static_cast<int32_t>(npu::RunningCore("TPUSH").sub_block_id); }

}  // namespace detail

/// Puts tile into the next slot of pipe, once one is free, and tells the consumer.
///   tile    Acc (from the cube core) or Vec tile; its valid region goes into the slot
///   kSplit  the part of the slot that each vector core gives or takes; both sides name the same
///   sub_block  stands for the vector core, else the one that runs
/// On a core that does not produce nothing happens. Pipe FIX, from a vector core MTE3. Source: PTO
/// ISA, TPUSH.
template <class Pipe, class TileT, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_tile_data_v<TileT> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUSH(Pipe& pipe, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  if constexpr (detail::kForHost) {
    if (detail::PushOnHost<kSplit, FixpipeParams<>>(pipe, tile, detail::SubBlock())) return {};
  }
  detail::PushNext<kSplit>(pipe, [&]() __attribute__((always_inline)) {
    pipe.prod.template push<TileT, kSplit>(pipe.fifo, tile, detail::SubBlock());
  });
  return {};
}
template <class Pipe, class TileT, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_tile_data_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUSH(Pipe& pipe, TileT& tile, int32_t sub_block,
                                                Events&... events) {
  (events.Wait(), ...);
  if constexpr (detail::kForHost) {
    if (detail::PushOnHost<kSplit, FixpipeParams<>>(pipe, tile, sub_block)) return {};
  }
  detail::PushNext<kSplit>(pipe, [&]() __attribute__((always_inline)) {
    pipe.prod.template push<TileT, kSplit>(pipe.fifo, tile, sub_block);
  });
  return {};
}

/// The same for an Acc tile that is converted on the way.
///   Config  FixpipeParams: quantization, of the word of SET_QUANT_SCALAR or the words of
///           SET_QUANT_VECTOR, layout, relu, atomic add
template <class Pipe, class TileT, class Config, class... Events,
          std::enable_if_t<is_tile_data_v<TileT> && !detail::kIsEvent<Config>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUSH(Pipe& pipe, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  if constexpr (detail::kForHost) {
    if (detail::PushOnHost<TILE_NO_SPLIT, Config>(pipe, tile, 0)) return {};
  }
  detail::PushNext<TILE_NO_SPLIT>(pipe, [&]() __attribute__((always_inline)) {
    pipe.prod.template push<TileT, Config>(pipe.fifo, tile);
  });
  return {};
}

/// global = the next slot of pipe, once one is free: what is stored there goes to the consumer with
/// a TPUSH of global.
///   global  its dimensions 3 and 4 are those of the part of a vector core
/// Source: PTO ISA, TALLOC.
template <class Pipe, class Global, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_global_data_v<Global>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TALLOC(Pipe& pipe, Global& global, Events&... events) {
  (events.Wait(), ...);
  detail::Reserve<kSplit>(pipe);
  detail::AssignSlot<kSplit>("TALLOC", pipe, pipe.prod, global);
  ++pipe.prod.tileIndex;
  return {};
}

/// Tells the consumer of the slot that TALLOC gave.
template <class Pipe, class Global, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_global_data_v<Global> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUSH(Pipe& pipe, Global&, Events&... events) {
  (events.Wait(), ...);
  pipe.prod.template record<kSplit>();
  return {};
}

/// tile = the next tile of pipe, once there is one: in a buffer of the pipe, which gives tile its
/// address. Its slot is free again at once where it is in global memory, else with TFREE.
///   tile    Vec tile, or Mat on the cube core; its valid region is what the producer pushed, or
///           the part of a vector core
/// Pipe MTE2. Source: PTO ISA, TPOP.
template <class Pipe, class TileT, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_tile_data_v<TileT> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPOP(Pipe& pipe, TileT& tile, Events&... events) {
  (events.Wait(), ...);
  if constexpr (detail::kForHost) {
    if (detail::PopOnHost<kSplit>(pipe, tile, detail::SubBlock())) return {};
  }
  detail::PopNext<TileT, kSplit>(pipe, tile, detail::SubBlock());
  return {};
}
template <class Pipe, class TileT, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_tile_data_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPOP(Pipe& pipe, TileT& tile, int32_t sub_block,
                                               Events&... events) {
  (events.Wait(), ...);
  if constexpr (detail::kForHost) {
    if (detail::PopOnHost<kSplit>(pipe, tile, sub_block)) return {};
  }
  detail::PopNext<TileT, kSplit>(pipe, tile, sub_block);
  return {};
}

/// global = the next slot of pipe, once it is full; TFREE of global frees it.
template <class Pipe, class Global, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_global_data_v<Global> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPOP(Pipe& pipe, Global& global, Events&... events) {
  (events.Wait(), ...);
  pipe.cons.template wait<kSplit>();
  detail::AssignSlot<kSplit>("TPOP", pipe, pipe.cons, global);
  ++pipe.cons.tileIndex;
  return {};
}

/// Frees the slot of the last pop. Of tiles that were copied out of global memory the pop has done
/// it. Source: PTO ISA, TFREE.
template <class Pipe, TileSplitAxis kSplit, class... Events>
[[gnu::always_inline]] inline RecordEvent TFREE(Pipe& pipe, Events&... events) {
  (events.Wait(), ...);
  const auto& consumer = pipe.cons;
  if (Pipe::IsOnHost()) return {};  // the pop has copied its tile
  if (!Pipe::Flags::IsGlobal() && consumer.isFree &&
      Pipe::shouldNotifyFree(consumer.tileIndex - 1)) {
    consumer.template free<kSplit>();
  }
  return {};
}
template <class Pipe, class Global, TileSplitAxis kSplit, class... Events,
          std::enable_if_t<is_global_data_v<Global> && all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TFREE(Pipe& pipe, Global&, Events&... events) {
  (events.Wait(), ...);
  const auto& consumer = pipe.cons;
  if (!Pipe::Flags::IsGlobal()) detail::RaiseNotGlobal("TFREE");
  if (consumer.isFree && Pipe::shouldNotifyFree(consumer.tileIndex - 1)) {
    consumer.template free<kSplit>();
  }
  return {};
}

#ifdef __CPU_SIM
namespace detail {

template <class T>
inline constexpr bool kIsPipe = false;
template <uint8_t kFlag, uint8_t kDir, uint32_t kBytes, uint32_t kNum, uint32_t kLocal,
          bool kNoSplit, bool kUnitFlag>
inline constexpr bool kIsPipe<TPipe<kFlag, kDir, kBytes, kNum, kLocal, kNoSplit, kUnitFlag>> = true;

}  // namespace detail

/// The same of a whole tile, as programs for simulators write it.
template <class TileT, class Pipe, class... Events,
          std::enable_if_t<is_tile_data_v<TileT> && detail::kIsPipe<Pipe>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUSH(TileT& tile, Pipe& pipe, Events&... events) {
  return TPUSH<Pipe, TileT, TILE_NO_SPLIT>(pipe, tile, events...);
}
template <class TileT, class Pipe, class... Events,
          std::enable_if_t<is_tile_data_v<TileT> && detail::kIsPipe<Pipe>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPOP(TileT& tile, Pipe& pipe, Events&... events) {
  return TPOP<Pipe, TileT, TILE_NO_SPLIT>(pipe, tile, events...);
}
template <class Pipe, class... Events, std::enable_if_t<detail::kIsPipe<Pipe>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TFREE(Pipe& pipe, Events&... events) {
  return TFREE<Pipe, TILE_NO_SPLIT>(pipe, events...);
}
#endif

}  // namespace pto
