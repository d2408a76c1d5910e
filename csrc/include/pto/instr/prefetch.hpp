// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "pto/comm/async_session.hpp"
#include "pto/global_range.hpp"
#include "pto/instr/assign.hpp"
#include "pto/instr/move_on_host.hpp"
#include "pto/tile.hpp"
#include "pto/tile_facts.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(void PrefetchGlobal(const char* op, npu::Pipe pipe, const void* call_site,
                                 const GlobalFacts& global)) {
  // Nobody gets what is brought near: no access that could be too early.
  const auto operands = [&](auto report) {
    const int64_t elements = global.Empty() ? 0 : global.Rows() * global.Cols();
    report(npu::Work{0, static_cast<size_t>(elements) * global.element_bytes, 0});
  };
  npu::Issue(op, pipe, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    if (core.check_limits) CheckGlobalMemory(core, op, global);
  });
}

template <class Global>
[[gnu::noinline]] void Prefetch(Global& global) {
  PrefetchGlobal("TPREFETCH", npu::Pipe::kMte2, __builtin_return_address(0), GlobalFacts(global));
}

/// A tensor that lies in one piece, in programs that call kernels from host code, as one line.
inline GlobalFacts AsLine(GlobalFacts global) {
  int64_t count = global.shape[4];
  if (!kForHost || global.stride[4] != 1) return global;
  for (int d = kGlobalDims - 2; d >= 0; --d) {
    if (global.shape[d] != 1 && global.stride[d] != count) return global;
    count *= global.shape[d];
  }
  for (int d = 0; d < kGlobalDims - 1; ++d) {
    global.shape[d] = 1;
    global.stride[d] = count;
  }
  global.shape[4] = count;
  return global;
}

/// True for elements that follow one another in one line: what the engine takes.
NPU_ONE_BODY(bool IsOneLine(const GlobalFacts& global)) {
  if (global.data == nullptr || global.Empty() || global.stride[4] != 1) return false;
  for (int d = 0; d < kGlobalDims - 1; ++d) {
    if (global.shape[d] != 1 || global.stride[d] != global.shape[4]) return false;
  }
  return true;
}

template <class Global>
[[gnu::noinline]] comm::AsyncEvent PrefetchLine(Global& global, comm::AsyncSession& session) {
  const GlobalFacts facts(global);
  if (!session.valid || session.engine != comm::DmaEngine::SDMA || !IsOneLine(facts)) return {};
  PrefetchGlobal("TPREFETCH_ASYNC", npu::Pipe::kS, __builtin_return_address(0), facts);
  return {++session.posts, comm::DmaEngine::SDMA};
}

}  // namespace detail

/// What TPREFETCH_ASYNC needs: a workspace of the host, and a session, its own or another one.
struct PrefetchAsyncContext {
  using ScratchTile = Tile<TileType::Vec, uint8_t, 1, comm::sdma::UB_ALIGN_SIZE>;

  __gm__ uint8_t* workspace = nullptr;
  comm::AsyncSession session;
  comm::AsyncSession* externalSession = nullptr;
  ScratchTile scratchTile;

  PrefetchAsyncContext() = default;
  explicit PrefetchAsyncContext(__gm__ uint8_t* memory, comm::AsyncSession* external = nullptr)
      : workspace(memory), externalSession(external) {}

  comm::AsyncSession& GetSession() { return externalSession ? *externalSession : session; }
  const comm::AsyncSession& GetSession() const {
    return externalSession ? *externalSession : session;
  }
};

/// Brings src near for loads that follow. Nothing is computed; memory outside of its allocation is
/// a fault.
///   dst  Vec tile that the chip uses as scratch; not touched here
/// Pipe MTE2. Source: PTO ISA, TPREFETCH.
template <class TileT, class Global>
[[gnu::always_inline]] inline RecordEvent TPREFETCH([[maybe_unused]] TileT& dst, Global& src) {
  if constexpr (detail::kForHost && is_tile_data_v<Global>) {
    detail::MoveOnHost("TPREFETCH", nullptr, dst, src);  // simulators copy a tile
  } else {
    detail::Prefetch(src);
  }
  npu::KeepCallSite();
  return {};
}

/// Brings src near without holding the core. The event has no handle where nothing was begun: no
/// workspace, or a src whose elements do not follow one another in one line.
///   src      global tensor of one line: dimensions 0 to 3 of 1, with its length as stride; memory
///            outside of its allocation is a fault
///   context  its session is built by the first call, with its scratch tile at address 0 of UB
/// Pipe S. Source: PTO ISA, TPREFETCH_ASYNC.
template <class Global, class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline comm::AsyncEvent TPREFETCH_ASYNC(Global& src,
                                                               PrefetchAsyncContext& context,
                                                               Events&... events) {
  (events.Wait(), ...);
  comm::AsyncSession& session = context.GetSession();
  if (!session.valid) {
    TASSIGN(context.scratchTile, 0);
    comm::BuildAsyncSession(context.scratchTile, context.workspace, session);
  }
  const comm::AsyncEvent event = detail::PrefetchLine(src, session);
  npu::KeepCallSite();
  return event;
}

}  // namespace pto
