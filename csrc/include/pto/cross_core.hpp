// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "pto/sync.hpp"

/// Flags between cores.
namespace pto::detail {

NPU_ONE_BODY(void SetCrossCore(const char* op, pipe_t pipe, uint64_t message)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore(op);
  npu::CountInstruction(core);
  const auto mode = static_cast<unsigned>(message >> 4 & 3);
  const int id = static_cast<int>(message >> 8 & 0xf);
  if (static_cast<unsigned>(pipe) > PIPE_ALL || mode > 2) {
    npu::RaiseFault(op, "a pipe from PIPE_S (0) to PIPE_ALL (7) and a mode from 0 to 2",
                    "pipe " + npu::TextOf(pipe) + ", mode " + npu::TextOf(mode));
  }
  const auto scope = static_cast<npu::FlagScope>(mode);
  if (core.observer) {
    core.observer->OnSetCrossCoreFlag(core, static_cast<npu::Pipe>(pipe), scope, id, call_site);
  }
  core.scheduler->SetCrossCoreFlag(core, static_cast<npu::Pipe>(pipe), scope, id);
}

/// Waits for flag id, counted from first of all flags of a core.
NPU_ONE_BODY(void WaitCrossCore(const char* op, pipe_t pipe, int first, int64_t id, int64_t last)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore(op);
  npu::CountInstruction(core);
  if (static_cast<unsigned>(pipe) > PIPE_ALL || id < 0 || id > last) {
    npu::RaiseFault(
        op, "a pipe from PIPE_S (0) to PIPE_ALL (7) and a flag id from 0 to " + npu::TextOf(last),
        "pipe " + npu::TextOf(pipe) + ", id " + npu::TextOf(id));
  }
  const int flag = first + static_cast<int>(id);
  core.scheduler->WaitCrossCoreFlag(core, static_cast<npu::Pipe>(pipe), flag);
  if (core.observer) {
    core.observer->OnWaitCrossCoreFlag(core, static_cast<npu::Pipe>(pipe), flag, call_site);
  }
}

NPU_ONE_BODY(void CheckIntraBlock(const char* op, const npu::Core& core)) {
  if (core.arch->generation == npu::Generation::kA5 || !core.check_limits) return;
  npu::RaiseFault(op, "a chip with flags within a block (A5)", core.arch->soc);
}

/// The last id of a flag within a block: the cube core has those of both vector cores.
inline int64_t LastIntraBlock(const char* op) {
  const npu::Core& core = npu::RunningCore(op);
  CheckIntraBlock(op, core);
  return core.type == npu::CoreType::kCube ? 31 : 15;
}

NPU_ONE_BODY(void SetIntraBlock(pipe_t pipe, int64_t id)) {
  constexpr const char* kOp = "set_intra_block";
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore(kOp);
  npu::CountInstruction(core);
  const int64_t last = LastIntraBlock(kOp);
  if (static_cast<unsigned>(pipe) > PIPE_ALL || id < 0 || id > last) {
    npu::RaiseFault(
        kOp, "a pipe from PIPE_S (0) to PIPE_ALL (7) and a flag id from 0 to " + npu::TextOf(last),
        "pipe " + npu::TextOf(pipe) + ", id " + npu::TextOf(id));
  }
  const int flag = npu::kIntraBlockFlag + static_cast<int>(id);
  if (core.observer) {
    core.observer->OnSetCrossCoreFlag(core, static_cast<npu::Pipe>(pipe),
                                      npu::FlagScope::kIntraBlock, flag, call_site);
  }
  core.scheduler->SetCrossCoreFlag(core, static_cast<npu::Pipe>(pipe), npu::FlagScope::kIntraBlock,
                                   flag);
}

}  // namespace pto::detail

/// Sets a cross-core flag once pipe has ended its earlier instructions.
///   message  1 | mode << 4 | id << 8; mode 0: all cores of this kind, 1: vector cores of the
///            block, 2: between the cube core and the vector cores of the block
/// Source: PTO ISA, ffts_cross_core_sync.
[[gnu::always_inline]] inline void ffts_cross_core_sync(pipe_t pipe, uint64_t message) {
  pto::detail::SetCrossCore("ffts_cross_core_sync", pipe, message);
  npu::KeepCallSite();
}

/// Waits for cross-core flag id (0 to 15). Other cores run meanwhile. pipe, on A5: the one that is
/// held.
[[gnu::always_inline]] inline void wait_flag_dev(pipe_t pipe, int64_t id) {
  pto::detail::WaitCrossCore("wait_flag_dev", pipe, 0, id, npu::kCrossCoreFlagIds - 1);
  npu::KeepCallSite();
}
[[gnu::always_inline]] inline void wait_flag_dev(int64_t id) { wait_flag_dev(PIPE_S, id); }

/// Sets flag id for the other side of the block once pipe has ended its earlier instructions: the
/// cube core for vector core 0 (ids 0 to 15) or 1 (16 to 31), a vector core (0 to 15) for the cube
/// core, which vector core 1 meets at id + 16. Source: PTO ISA, TSync_Custom (A5).
[[gnu::always_inline]] inline void set_intra_block(pipe_t pipe, int64_t id) {
  pto::detail::SetIntraBlock(pipe, id);
  npu::KeepCallSite();
}

/// Holds pipe until the other side of the block has set flag id.
[[gnu::always_inline]] inline void wait_intra_block(pipe_t pipe, int64_t id) {
  pto::detail::WaitCrossCore("wait_intra_block", pipe, npu::kIntraBlockFlag, id,
                             pto::detail::LastIntraBlock("wait_intra_block"));
  npu::KeepCallSite();
}

/// Where the flags of the chip lie, as rtGetC2cCtrlAddr tells the host: st_dev of a message to
/// that address sets a flag. The emulated flags need no address otherwise.
inline void set_ffts_base_addr(uint64_t address) {
  npu::CoreToClear("set_ffts_base_addr").flag_base = address;
}

namespace pto {

/// The message of ffts_cross_core_sync. Source: PTO ISA, TSync.
constexpr uint16_t getFFTSMsg(uint16_t mode, uint16_t id, uint16_t base = 1) {
  return static_cast<uint16_t>((base & 0xf) | (mode & 3) << 4 | (id & 0xf) << 8);
}

}  // namespace pto
