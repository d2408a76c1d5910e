// SPDX-License-Identifier: Apache-2.0
// Sessions and events of transfers that engines beside the core make. Here such a transfer is done
// when its instruction returns, so that nobody waits.
#pragma once

#include <cstdint>

#include "pto/check.hpp"
#include "pto/types.hpp"

namespace pto::comm {

enum class DmaEngine : uint8_t { SDMA, URMA, RDMA };

namespace sdma {

inline constexpr uint32_t UB_ALIGN_SIZE = 256;  // bytes of a session's scratch tile
inline constexpr uint32_t kAutoChannelGroupIdx = UINT32_MAX;

/// How the chip cuts transfers; the results are the same.
struct SdmaBaseConfig {
  uint64_t block_bytes;
  uint64_t comm_block_offset;
  uint32_t queue_num;
};

}  // namespace sdma

/// What transfers of one engine have in common. Valid from BuildAsyncSession on.
struct AsyncSession {
  DmaEngine engine = DmaEngine::SDMA;
  bool valid = false;
  __gm__ uint8_t* contextGm = nullptr;
  uint32_t syncId = 0;
  uint64_t posts = 0;  // transfers so far
};

/// One transfer. Without a handle it was not made, and there is nothing to wait for.
struct AsyncEvent {
  uint64_t handle = 0;
  DmaEngine engine = DmaEngine::SDMA;

  constexpr AsyncEvent() = default;
  constexpr AsyncEvent(uint64_t number, DmaEngine by) : handle(number), engine(by) {}
  constexpr bool valid() const { return handle != 0; }

  /// True once the transfer has ended; false of a session that was not built.
  bool Wait(const AsyncSession& session) const { return handle == 0 || session.valid; }
  bool Test(const AsyncSession& session) const { return Wait(session); }
};

/// Makes session ready. False, and a session that is not valid, without a workspace.
///   scratch    Vec tile of 256 bytes that the chip uses; not touched here
///   workspace  global memory of the host's SdmaWorkspaceManager
/// Source: PTO ISA, BuildAsyncSession.
template <DmaEngine kEngine = DmaEngine::SDMA, class Scratch>
inline bool BuildAsyncSession(Scratch& scratch, __gm__ uint8_t* workspace, AsyncSession& session,
                              uint32_t sync_id = 0, const sdma::SdmaBaseConfig& = {},
                              uint32_t = sdma::kAutoChannelGroupIdx) {
  static_assert(kEngine == DmaEngine::SDMA, "BuildAsyncSession: expected engine SDMA");
  static_assert(Scratch::Loc == TileType::Vec &&
                    Scratch::Numel * sizeof(*scratch.data()) >= sdma::UB_ALIGN_SIZE,
                "BuildAsyncSession: expected a scratch tile of 256 bytes in UB");
  pto::detail::CheckNext("BuildAsyncSession", "scratch", scratch);
  session = AsyncSession();
  session.contextGm = workspace;
  session.syncId = sync_id;
  session.valid = workspace != nullptr;
  return session.valid;
}

}  // namespace pto::comm
