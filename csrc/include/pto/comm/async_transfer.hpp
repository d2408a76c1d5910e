// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/comm/async_session.hpp"
#include "pto/comm/relay.hpp"
#include "pto/instr/prefetch.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

inline constexpr uint64_t kMaxUrmaBytes = uint64_t{256} << 20;  // of one transfer

NPU_ONE_BODY(NPU_RAISES void RaiseLine(const char* op, const char* operand,
                                       const GlobalFacts& global)) {
  npu::Text shape, strides;
  for (int d = 0; d < kGlobalDims; ++d) {
    shape = shape + (d == 0 ? "" : "x") + npu::TextOf(global.shape[d]);
    strides = strides + (d == 0 ? "" : ", ") + npu::TextOf(global.stride[d]);
  }
  npu::RaiseFault(
      op, npu::Text(operand) + " of one line: dimensions 0 to 3 of 1, with its length as stride",
      shape + " with strides " + strides);
}

NPU_ONE_BODY(NPU_RAISES void RaiseLength(const char* op, int64_t expected, int64_t got)) {
  npu::RaiseFault(op, "dst of at least the " + npu::TextOf(expected) + " elements of src",
                  npu::TextOf(got));
}

NPU_ONE_BODY(NPU_RAISES void RaiseSession(const char* op, bool is_valid)) {
  npu::RaiseFault(op, "a session that BuildAsyncSession has built for the engine",
                  is_valid ? "one of another engine" : "one that it has not");
}

/// An asynchronous transfer apart from the types of its tensors.
struct Post {
  const char* op;
  const void* call_site;
  comm::DmaEngine engine;
  GlobalFacts dst, src;
};

NPU_ONE_BODY(void CheckPost(npu::Core& core, const Post& post,
                            [[maybe_unused]] const comm::AsyncSession& session)) {
  const bool is_urma = post.engine == comm::DmaEngine::URMA;
#ifndef __CPU_SIM
  if (is_urma) CheckIsA5(core, post.op);
  if (!session.valid || session.engine != post.engine) RaiseSession(post.op, session.valid);
#endif
  if (!IsOneLine(post.src)) RaiseLine(post.op, "src", post.src);
  if (!IsOneLine(post.dst)) RaiseLine(post.op, "dst", post.dst);
  if (post.dst.shape[4] < post.src.shape[4]) {
    RaiseLength(post.op, post.src.shape[4], post.dst.shape[4]);
  }
  if (!core.check_limits) return;
  const auto bytes = static_cast<uint64_t>(post.src.shape[4]) * post.src.element_bytes;
  if (is_urma && bytes > kMaxUrmaBytes) {
    CheckRange(post.op, "bytes of a transfer", 1, kMaxUrmaBytes, static_cast<int64_t>(bytes));
  }
  CheckGlobalMemory(core, post.op, post.src);
  GlobalFacts written = post.dst;
  written.shape[4] = post.src.shape[4];
  CheckGlobalMemory(core, post.op, written);
}

/// Copies what the post names.
NPU_ONE_BODY(void Carry(const Post& post, const comm::AsyncSession& session)) {
  const auto bytes = static_cast<size_t>(post.src.shape[4]) * post.src.element_bytes;
  Post moved = post;
  if (post.engine == comm::DmaEngine::SDMA) {
    moved.dst.data += session.commBlockOffset;
    moved.src.data += session.commBlockOffset;
  }
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(post.src.shape[4]), bytes, 0},
           npu::Access{npu::Space::kGm, true, moved.dst.data, 1, bytes, bytes},
           npu::Access{npu::Space::kGm, false, moved.src.data, 1, bytes, bytes});
  };
  npu::Issue(post.op, npu::Pipe::kS, post.call_site, operands, [&] {
    CheckPost(*npu::current_core, moved, session);
    std::memmove(moved.dst.data, moved.src.data, bytes);
  });
}

template <comm::DmaEngine kEngine, bool kPuts, class Dst, class Src>
[[gnu::noinline]] comm::AsyncEvent PostAsync(Dst& dst, Src& src,
                                             const comm::AsyncSession& session) {
  static_assert(kEngine != comm::DmaEngine::RDMA,
                "TPUT_ASYNC, TGET_ASYNC: expected engine SDMA or URMA; RDMA is not emulated");
  static_assert(
      std::is_same_v<typename Dst::RawDType, typename Src::RawDType> && Dst::layout == Src::layout,
      "TPUT_ASYNC, TGET_ASYNC: expected dst and src of one element type and layout");
  constexpr const char* kOp = kPuts ? "TPUT_ASYNC" : "TGET_ASYNC";
  const Post post = {kOp, __builtin_return_address(0), kEngine, AsLine(GlobalFacts(dst)),
                     AsLine(GlobalFacts(src))};
  npu::Core& core = npu::RunningCore(kOp);
  if (post.src.shape[4] == 0) return {0, kEngine};
  Carry(post, session);
  const bool is_a5 = core.arch->generation == npu::Generation::kA5;
  if (kPuts && kEngine == comm::DmaEngine::SDMA && is_a5) return {0, kEngine};
  return {++session.posts, kEngine};
}

}  // namespace detail

namespace comm {

/// dst = src without holding the core, where dst is memory of another rank. Here it is done when
/// the call returns; whoever looks at dst waits for the event, as on the chip.
///   dst, src  global tensors of one element type and layout and of one line: dimensions 0 to 3 of
///             1, with its length as stride; dst may be longer
///   session   of BuildAsyncSession for this engine: SDMA, or URMA (A5, at most 256 MiB)
/// The event has no handle where src is empty, and from the SDMA engine of A5, which does not put:
/// there the core does it. Pipe S. Source: PTO ISA, TPUT_ASYNC.
template <DmaEngine kEngine = DmaEngine::SDMA, class Dst, class Src, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline AsyncEvent TPUT_ASYNC(Dst& dst, Src& src, const AsyncSession& session,
                                                    Events&... events) {
  (events.Wait(), ...);
  const AsyncEvent event = pto::detail::PostAsync<kEngine, true>(dst, src, session);
  npu::KeepCallSite();
  return event;
}

/// The same with the rank that dst belongs to: addresses say so here, too.
template <DmaEngine kEngine = DmaEngine::SDMA, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline AsyncEvent TPUT_ASYNC(Dst& dst, Src& src, const AsyncSession& session,
                                                    uint32_t, Events&... events) {
  return TPUT_ASYNC<kEngine>(dst, src, session, events...);
}

/// dst = src without holding the core, where src is memory of another rank. Operands are those of
/// TPUT_ASYNC; the SDMA engine of A5 does it, too. Pipe S. Source: PTO ISA, TGET_ASYNC.
template <DmaEngine kEngine = DmaEngine::SDMA, class Dst, class Src, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline AsyncEvent TGET_ASYNC(Dst& dst, Src& src, const AsyncSession& session,
                                                    Events&... events) {
  (events.Wait(), ...);
  const AsyncEvent event = pto::detail::PostAsync<kEngine, false>(dst, src, session);
  npu::KeepCallSite();
  return event;
}

/// The same with the rank that src belongs to: addresses say so here, too.
template <DmaEngine kEngine = DmaEngine::SDMA, class Dst, class Src, class... Events>
[[gnu::always_inline]] inline AsyncEvent TGET_ASYNC(Dst& dst, Src& src, const AsyncSession& session,
                                                    uint32_t, Events&... events) {
  return TGET_ASYNC<kEngine>(dst, src, session, events...);
}

}  // namespace comm
}  // namespace pto
