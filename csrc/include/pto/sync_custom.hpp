// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "pto/common/debug.h"
#include "pto/global_range.hpp"
#include "pto/pipe_flags.hpp"

/// Order between the cube core and the vector cores of a block, and slots for blocks that share
/// memory.
namespace pto {

/// Producers of tiles, and their consumer.
enum class SyncOpType : uint8_t {
  TSTORE_C2GM,   // an accumulator to global memory
  TSTORE_V2GM,   // a vector tile to global memory
  TMOV_C2UB,     // an accumulator to UB (A5)
  TINSERT_V2L1,  // a vector tile to L1 (A5)
  TLOAD,
};

/// Flags flag_id, of tiles, and flag_id + 1, of free buffers: the producer calls allocate() before
/// and record() after it has stored a tile, the consumer wait() before and free() after it has read
/// it. Source: PTO ISA, TSync_Custom.
template <SyncOpType kProducer, SyncOpType kConsumer>
struct TSync_Custom {
  static constexpr bool is_c2v =
      kProducer == SyncOpType::TSTORE_C2GM || kProducer == SyncOpType::TMOV_C2UB;
  static constexpr bool is_v2c = !is_c2v;
  static constexpr bool is_on_chip =
      kProducer == SyncOpType::TMOV_C2UB || kProducer == SyncOpType::TINSERT_V2L1;
  static_assert(kProducer != SyncOpType::TLOAD && kConsumer == SyncOpType::TLOAD,
                "TSync_Custom: expected a producer, and TLOAD as consumer");

  uint16_t flag_id;

  [[gnu::always_inline]] inline void record() const { Set(is_c2v ? PIPE_FIX : PIPE_MTE3, 0); }
  [[gnu::always_inline]] inline void wait() const {
    Await(!is_on_chip ? PIPE_MTE2 : (is_c2v ? PIPE_V : PIPE_MTE1), 0);
  }
  [[gnu::always_inline]] inline void allocate() const { Await(is_c2v ? PIPE_FIX : PIPE_MTE3, 1); }
  [[gnu::always_inline]] inline void free() const {
    const bool by_load = Flags::IsA3() || (is_c2v && !is_on_chip);
    Set(by_load ? PIPE_MTE2 : (is_c2v ? PIPE_V : PIPE_MTE1), 1);
  }

 private:
  using Flags = detail::PipeFlags<0, is_c2v ? DIR_C2V : DIR_V2C>;

  [[gnu::always_inline]] inline void Set(pipe_t pipe, int next) const {
    Flags::Set(pipe, flag_id + next, true);
  }
  [[gnu::always_inline]] inline void Await(pipe_t pipe, int next) const {
    Flags::Await(pipe, flag_id + next, true);
  }
};

/// Flag ids of TSYNC_CVID.
enum CVCommFftsEvent : uint16_t {
  CV_COMM_CTRL = 12,
  CV_COMM_RSVD_13,
  CV_COMM_RSVD_14,
  CV_COMM_RSVD_15,
};
inline constexpr int kCvCommSlotBytes = 512;
inline constexpr int kCvMaxCores = 25;

enum CVSyncMode : uint16_t {
  C_ALL_CORE_SYNC = 0,
  V_ALL_CORE_SYNC = 0,
  V_SUBCORES_SYNC = 1,
  CV_CORE_SYNC = 2,
};

constexpr uint16_t _getFFTSMsg(CVSyncMode mode, uint16_t id, uint16_t base = 1) {
  return getFFTSMsg(mode, id, base);
}

/// A slot that no other cube core has which runs in the launch, for the memory of its block between
/// cube and vector cores: below kMaxCores, on A5 below the number of cube cores. The cube core
/// tells the vector cores of its block which.
///   block  index of the block
///   memory  kSlotBytes for each block of the launch
/// Source: PTO ISA, TSYNC_CVID.
template <int kSlotBytes = kCvCommSlotBytes, int kMaxCores = kCvMaxCores>
inline int TSYNC_CVID(int block, uint8_t* memory) {
  static_assert(kMaxCores > 0, "TSYNC_CVID: expected a positive number of cores");
  constexpr auto kMessage = getFFTSMsg(CV_CORE_SYNC, CV_COMM_CTRL);
  PTO_ASSERT(memory != nullptr, "TSYNC_CVID: memory for the slots of blocks");
  auto* const mine =
      reinterpret_cast<volatile uint32_t*>(memory + static_cast<ptrdiff_t>(block) * kSlotBytes);
  npu::Core& core = npu::RunningCore("TSYNC_CVID");
  detail::CheckGlobalBytes(core, "TSYNC_CVID", const_cast<const uint32_t*>(mine), sizeof(*mine));
  if (core.type == npu::CoreType::kCube) {
    const uint32_t id = core.scheduler->CoreId(core);
    mine[0] = core.arch->generation == npu::Generation::kA3 ? id % kMaxCores : id;
    ffts_cross_core_sync(PIPE_MTE2, kMessage);
  } else {
    wait_flag_dev(CV_COMM_CTRL);
  }
  return static_cast<int>(mine[0]);
}

}  // namespace pto
