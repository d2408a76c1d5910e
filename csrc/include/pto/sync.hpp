// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/issue.hpp"
#include "pto/types.hpp"

namespace pto::detail {

NPU_ONE_BODY(void CheckFlag(const char* op, pipe_t source, pipe_t destination, int id)) {
  if (static_cast<unsigned>(source) >= npu::kPipes ||
      static_cast<unsigned>(destination) >= npu::kPipes ||
      static_cast<unsigned>(id) >= npu::kEventIds) {
    npu::RaiseFault(op, "pipes from PIPE_S (0) to PIPE_FIX (6) and an event id from 0 to 7",
                    "pipe " + npu::TextOf(source) + ", pipe " + npu::TextOf(destination) + ", id " +
                        npu::TextOf(id));
  }
}

NPU_ONE_BODY(npu::Text FlagName(pipe_t source, pipe_t destination, int id)) {
  return npu::Text(npu::PipeName(static_cast<npu::Pipe>(source))) + ", " +
         npu::PipeName(static_cast<npu::Pipe>(destination)) + ", EVENT_ID" + npu::TextOf(id);
}

NPU_ONE_BODY(void SetFlag(pipe_t source, pipe_t destination, int id)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("set_flag");
  npu::CountInstruction(core);
  CheckFlag("set_flag", source, destination, id);
  uint8_t& count = core.flags[source][destination][id];
  if (count == UINT8_MAX) {
    npu::RaiseFault(
        "set_flag",
        "at most 255 sets of (" + FlagName(source, destination, id) + ") without a wait_flag",
        "one more");
  }
  ++count;
  if (core.observer) {
    core.observer->OnSetFlag(core, static_cast<npu::Pipe>(source),
                             static_cast<npu::Pipe>(destination), id, call_site);
  }
}

NPU_ONE_BODY(void WaitFlag(pipe_t source, pipe_t destination, int id)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("wait_flag");
  npu::CountInstruction(core);
  CheckFlag("wait_flag", source, destination, id);
  uint8_t& count = core.flags[source][destination][id];
  if (count == 0) {
    // A core runs its instructions in program order: a flag that is not set by now would never be.
    npu::RaiseFault("wait_flag", "an earlier set_flag(" + FlagName(source, destination, id) + ")",
                    "none that is not waited for already");
  }
  --count;
  if (core.observer) {
    core.observer->OnWaitFlag(core, static_cast<npu::Pipe>(source),
                              static_cast<npu::Pipe>(destination), id, call_site);
  }
}

}  // namespace pto::detail

/// Marks, on the source pipe, that destination may go on past the wait_flag of the same pipes and
/// id.
[[gnu::always_inline]] inline void set_flag(pipe_t source, pipe_t destination, event_t id) {
  pto::detail::SetFlag(source, destination, id);
  npu::KeepCallSite();
}

/// Holds the destination pipe until the set_flag of the same pipes and id. A fault when there was
/// none.
[[gnu::always_inline]] inline void wait_flag(pipe_t source, pipe_t destination, event_t id) {
  pto::detail::WaitFlag(source, destination, id);
  npu::KeepCallSite();
}

namespace pto::detail {

NPU_ONE_BODY(void PipeBarrier(pipe_t pipe)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("pipe_barrier");
  npu::CountInstruction(core);
  if (static_cast<unsigned>(pipe) > PIPE_ALL) {
    npu::RaiseFault("pipe_barrier", "a pipe from PIPE_S (0) to PIPE_ALL (7)", npu::TextOf(pipe));
  }
  if (core.observer) core.observer->OnBarrier(core, static_cast<npu::Pipe>(pipe), call_site);
}

}  // namespace pto::detail

/// Holds pipe until all its earlier instructions have ended.
[[gnu::always_inline]] inline void pipe_barrier(pipe_t pipe) {
  pto::detail::PipeBarrier(pipe);
  npu::KeepCallSite();
}

/// Sets a cross-core flag once pipe has ended its earlier instructions.
///   message  1 | mode << 4 | id << 8; mode 0: all cores of this kind, 1: vector cores of the
///   block,
///            2: between the cube core and the vector cores of the block
/// Source: PTO ISA, ffts_cross_core_sync.
NPU_ONE_BODY(void ffts_cross_core_sync(pipe_t pipe, uint64_t message)) {
  constexpr const char* kOp = "ffts_cross_core_sync";
  npu::Core& core = npu::RunningCore(kOp);
  npu::CountInstruction(core);
  const auto mode = static_cast<unsigned>(message >> 4 & 3);
  const int id = static_cast<int>(message >> 8 & 0xf);
  if (static_cast<unsigned>(pipe) > PIPE_ALL || mode > 2) {
    npu::RaiseFault(kOp, "a pipe from PIPE_S (0) to PIPE_ALL (7) and a mode from 0 to 2",
                    "pipe " + npu::TextOf(pipe) + ", mode " + npu::TextOf(mode));
  }
  core.scheduler->SetCrossCoreFlag(core, static_cast<npu::FlagScope>(mode), id);
}

/// Waits for cross-core flag id (0 to 15). Other cores run meanwhile.
NPU_ONE_BODY(void wait_flag_dev(int64_t id)) {
  npu::Core& core = npu::RunningCore("wait_flag_dev");
  npu::CountInstruction(core);
  if (id < 0 || id >= npu::kCrossCoreFlagIds) {
    npu::RaiseFault("wait_flag_dev", "a flag id from 0 to 15", npu::TextOf(id));
  }
  core.scheduler->WaitCrossCoreFlag(core, static_cast<int>(id));
}

/// Where the flags of the chip lie; the emulated ones need no address.
inline void set_ffts_base_addr(uint64_t) {}

/// Cache maintenance of the scalar pipe. A kernel that polls memory calls it, so other cores run
/// meanwhile.
template <class... Options>
inline void dcci(const volatile void*, Options...) {
  npu::Core& core = npu::RunningCore("dcci");
  npu::CountInstruction(core);
  core.scheduler->Yield(core, "dcci");
}

/// Masks of vector instructions of the chip; tile instructions take their extent from the valid
/// region.
inline void set_mask_norm() {}
inline void set_mask_count() {}
inline void set_vector_mask(uint64_t, uint64_t) {}

inline int64_t get_block_idx() { return npu::RunningCore("get_block_idx").block_idx; }
inline int64_t get_block_num() { return npu::RunningCore("get_block_num").block_num; }
inline int64_t get_subblockid() { return npu::RunningCore("get_subblockid").sub_block_id; }
inline int64_t get_subblockdim() { return npu::RunningCore("get_subblockdim").sub_block_num; }

namespace pto::detail {

struct BlockIdx {
  operator uint32_t() const {
    return npu::RunningCore("block_idx").block_idx;
  }  // NOLINT(google-explicit-constructor)
};
struct BlockNum {
  operator uint32_t() const {
    return npu::RunningCore("block_num").block_num;
  }  // NOLINT(google-explicit-constructor)
};

}  // namespace pto::detail

/// Index of the running block and number of blocks of the launch. Objects, not macros: kernels name
/// locals so too.
inline constexpr pto::detail::BlockIdx block_idx;
inline constexpr pto::detail::BlockNum block_num;

namespace pto {

/// Sets a flag of event id 0 and waits for it.
template <pipe_t kSource, pipe_t kDestination>
[[gnu::always_inline]] inline void PtoSetWaitFlag() {
  set_flag(kSource, kDestination, EVENT_ID0);
  wait_flag(kSource, kDestination, EVENT_ID0);
}

/// Waits until every core of kCores in the launch has arrived. Does not flush caches. Source: PTO
/// ISA, SYNCALL.
template <SyncCoreType kCores = SyncCoreType::AIVOnly>
inline void SYNCALL() {
  npu::Core& core = npu::RunningCore("SYNCALL");
  npu::CountInstruction(core);
  core.scheduler->SyncAll(core, static_cast<npu::SyncGroup>(kCores));
}

}  // namespace pto
