// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "npu/issue.hpp"
#include "pto/types.hpp"

namespace pto::detail {

NPU_ONE_BODY(NPU_RAISES void RaiseFlag(const char* op, pipe_t source, pipe_t destination, int id)) {
  npu::RaiseFault(op, "pipes from PIPE_S (0) to PIPE_FIX (6) and an event id from 0 to 7",
                  "pipe " + npu::TextOf(source) + ", pipe " + npu::TextOf(destination) + ", id " +
                      npu::TextOf(id));
}

inline void CheckFlag(const char* op, pipe_t source, pipe_t destination, int id) {
  const bool good = static_cast<unsigned>(source) < npu::kPipes &&
                    static_cast<unsigned>(destination) < npu::kPipes &&
                    static_cast<unsigned>(id) < npu::kEventIds;
  if (__builtin_expect(!good, 0)) RaiseFlag(op, source, destination, id);
}

NPU_ONE_BODY(npu::Text FlagName(pipe_t source, pipe_t destination, int id)) {
  return npu::Text(npu::PipeName(static_cast<npu::Pipe>(source))) + ", " +
         npu::PipeName(static_cast<npu::Pipe>(destination)) + ", EVENT_ID" + npu::TextOf(id);
}

NPU_ONE_BODY(NPU_RAISES void RaiseFlagFull(pipe_t source, pipe_t destination, int id)) {
  npu::RaiseFault(
      "set_flag",
      "at most 255 sets of (" + FlagName(source, destination, id) + ") without a wait_flag",
      "one more");
}

/// A core runs its instructions in program order: a flag that is not set by now would never be.
NPU_ONE_BODY(NPU_RAISES void RaiseFlagUnset(pipe_t source, pipe_t destination, int id)) {
  npu::RaiseFault("wait_flag", "an earlier set_flag(" + FlagName(source, destination, id) + ")",
                  "none that is not waited for already");
}

NPU_ONE_BODY(void SetFlag(pipe_t source, pipe_t destination, int id)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("set_flag");
  npu::CountInstruction(core);
  CheckFlag("set_flag", source, destination, id);
  uint8_t& count = core.flags[source][destination][id];
  if (__builtin_expect(count == UINT8_MAX, 0)) RaiseFlagFull(source, destination, id);
  ++count;
  if (core.observer) {
    const auto from = static_cast<npu::Pipe>(source), to = static_cast<npu::Pipe>(destination);
    core.observer->OnSetFlag(core, from, to, id, call_site);
    core.scheduler->SetFlag(core, from, to, id);
  }
}

NPU_ONE_BODY(void WaitFlag(pipe_t source, pipe_t destination, int id)) {
  const void* call_site = __builtin_return_address(0);
  npu::Core& core = npu::RunningCore("wait_flag");
  npu::CountInstruction(core);
  CheckFlag("wait_flag", source, destination, id);
  uint8_t& count = core.flags[source][destination][id];
  if (__builtin_expect(count == 0, 0)) RaiseFlagUnset(source, destination, id);
  --count;
  if (core.observer) {
    const auto from = static_cast<npu::Pipe>(source), to = static_cast<npu::Pipe>(destination);
    core.observer->OnWaitFlag(core, from, to, id, call_site);
    core.scheduler->WaitFlag(core, from, to, id);
  }
}

}  // namespace pto::detail

/// Marks, on the source pipe, that destination may go on past the wait_flag of the same pipes and
/// id, an event_t or its number.
[[gnu::always_inline]] inline void set_flag(pipe_t source, pipe_t destination, int64_t id) {
  pto::detail::SetFlag(source, destination, static_cast<int>(id));
  npu::KeepCallSite();
}

/// Holds the destination pipe until the set_flag of the same pipes and id. A fault when there was
/// none.
[[gnu::always_inline]] inline void wait_flag(pipe_t source, pipe_t destination, int64_t id) {
  pto::detail::WaitFlag(source, destination, static_cast<int>(id));
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
  if (core.observer) {
    core.observer->OnBarrier(core, static_cast<npu::Pipe>(pipe), call_site);
    if (pipe == PIPE_ALL) core.scheduler->AwaitPipes(core);
  }
}

}  // namespace pto::detail

/// Holds pipe until all its earlier instructions have ended.
[[gnu::always_inline]] inline void pipe_barrier(pipe_t pipe) {
  pto::detail::PipeBarrier(pipe);
  npu::KeepCallSite();
}

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

}  // namespace pto
