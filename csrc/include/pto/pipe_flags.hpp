// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pto/cross_core.hpp"
#include "pto/fifo.hpp"

namespace pto::detail {

NPU_ONE_BODY(NPU_RAISES void RaiseDirection(uint8_t direction)) {
  npu::RaiseFault("TPipe",
                  npu::Text("a direction from DIR_C2V (1) to DIR_V2C_CTRL (4) on ") +
                      npu::current_core->arch->soc,
                  npu::TextOf(direction));
}

NPU_ONE_BODY(NPU_RAISES void RaiseConsumer(uint8_t direction)) {
  npu::RaiseFault(
      "TPOP",
      direction == DIR_C2V || direction == DIR_C2V_GM ? "a vector core, to which the pipe leads"
                                                      : "the cube core, to which the pipe leads",
      npu::current_core->type == npu::CoreType::kCube ? "the cube core" : "a vector core");
}

/// Flags between producer and consumer of a TPipe: id kFlag tells of tiles from the cube core (or,
/// where only vector cores produce, theirs), kFlag + 2 of those of the vector cores where both do;
/// the next id each tells of free slots. Words of control are the scalar pipe's. A2 and A3:
/// cross-core flags, A5: flags within the block.
template <uint8_t kFlag, uint8_t kDirection>
struct PipeFlags {
  static constexpr bool kToVector = kDirection == DIR_C2V || kDirection == DIR_C2V_GM;
  static constexpr bool kBoth = kDirection == DIR_BOTH || kDirection == DIR_BOTH_GM;
  static constexpr bool kControl = kDirection == DIR_V2C_CTRL;
  static_assert(kDirection >= DIR_C2V && kDirection <= DIR_BOTH_GM,
                "TPipe: expected a direction from DIR_C2V to DIR_BOTH_GM");
  static_assert(kFlag + (kBoth ? 3 : 1) < npu::kCrossCoreFlagIds,
                "TPipe: expected flags below 16: two, or four where both sides produce");

  static bool IsA3() { return npu::RunningCore("TPipe").arch->generation == npu::Generation::kA3; }
  static bool IsCube() { return npu::RunningCore("TPipe").type == npu::CoreType::kCube; }
  /// Whether tiles go through global memory.
  static bool IsGlobal() { return IsA3() || kDirection >= DIR_C2V_GM; }
  /// Whether this core produces, or consumes.
  static bool Produces() { return kBoth || kToVector == IsCube(); }
  static bool Consumes() { return kBoth || kToVector != IsCube(); }
  /// The id that tells of tiles which the cube core, or else the vector cores, produced.
  static int TileFlag(bool of_cube) { return kBoth && !of_cube ? kFlag + 2 : kFlag; }
  static pipe_t ProducerPipe() { return IsCube() ? PIPE_FIX : (kControl ? PIPE_S : PIPE_MTE3); }

  /// Of the cube core: parted says that both vector cores take part.
  [[gnu::always_inline]] static inline void Set(pipe_t pipe, int id, bool parted) {
    if (IsA3()) return ffts_cross_core_sync(pipe, getFFTSMsg(2, static_cast<uint16_t>(id)));
    set_intra_block(pipe, id);
    if (IsCube() && parted) set_intra_block(pipe, id + 16);
  }
  [[gnu::always_inline]] static inline void Await(pipe_t pipe, int id, bool parted) {
    if (IsA3()) return wait_flag_dev(id);  // which knows no pipe
    wait_intra_block(pipe, id);
    if (IsCube() && parted) wait_intra_block(pipe, id + 16);
  }

  /// The producer: a slot is full; waits for a free one.
  [[gnu::always_inline]] static inline void Record(bool parted) {
    if (Produces()) Set(ProducerPipe(), TileFlag(IsCube()), parted);
  }
  [[gnu::always_inline]] static inline void Allocate(bool parted) {
    if (Produces()) Await(ProducerPipe(), TileFlag(IsCube()) + 1, parted);
  }
  /// The consumer: waits for a full slot; has freed one.
  [[gnu::always_inline]] static inline void Wait(bool parted) {
    if (!Consumes()) RaiseConsumer(kDirection);
    const pipe_t of_tiles = IsGlobal() ? PIPE_MTE2 : (IsCube() ? PIPE_MTE1 : PIPE_V);
    Await(kControl ? PIPE_S : of_tiles, TileFlag(!IsCube()), parted);
  }
  [[gnu::always_inline]] static inline void Free(bool parted) {
    if (!Consumes()) return;
    const bool by_load = IsA3() || (!IsCube() && IsGlobal());
    const pipe_t of_tiles = by_load ? PIPE_MTE2 : (IsCube() ? PIPE_MTE1 : PIPE_V);
    Set(kControl ? PIPE_S : of_tiles, TileFlag(!IsCube()) + 1, parted);
  }
};

}  // namespace pto::detail
