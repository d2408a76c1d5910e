// SPDX-License-Identifier: Apache-2.0
// Sessions and events of transfers that engines beside the core make. Here such a transfer is done
// when its instruction returns, so that nobody waits.
#pragma once

#include <cstdint>

#include "pto/check.hpp"
#include "pto/traits.hpp"
#include "pto/types.hpp"

// Kernels ask for the engine URMA by this name, as of A5.
#if defined(__NPU_ARCH__) && __NPU_ARCH__ != 2201 && !defined(__CPU_SIM)
#define PTO_URMA_SUPPORTED
#endif

namespace pto::comm {

enum class DmaEngine : uint8_t { SDMA, URMA, RDMA };

namespace sdma {

inline constexpr uint32_t UB_ALIGN_SIZE = 256;  // bytes of a session's scratch tile
inline constexpr uint32_t kAutoChannelGroupIdx = UINT32_MAX;
inline constexpr uint64_t kDefaultSdmaBlockBytes = 1024 * 1024;
inline constexpr uint32_t kSdmaMaxChannel = 48;  // queues of the engine
inline constexpr uint32_t kMaxSyncId = 7;

/// How the chip cuts transfers, which changes no result; but for comm_block_offset, the bytes
/// before the first that is moved, in both tensors.
struct SdmaBaseConfig {
  uint64_t block_bytes;
  uint64_t comm_block_offset;
  uint32_t queue_num;
};
using sdma_base_config_t = SdmaBaseConfig;

}  // namespace sdma

/// What transfers of one engine have in common. Valid from BuildAsyncSession on.
struct AsyncSession {
  DmaEngine engine = DmaEngine::SDMA;
  bool valid = false;
  __gm__ uint8_t* contextGm = nullptr;
  uint32_t syncId = 0;
  uint32_t channelGroupIdx = sdma::kAutoChannelGroupIdx;
  uint64_t blockBytes = sdma::kDefaultSdmaBlockBytes;
  uint64_t commBlockOffset = 0;
  uint32_t queueNum = 1;
  uint32_t destRankId = 0;
  mutable uint64_t posts = 0;  // transfers so far
};

/// One transfer. Without a handle it was done at once, or not made: there is nothing to wait for.
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

/// Makes session ready for the SDMA engine. False, and a session that is not valid, without a
/// workspace, with a syncId above 7, without a queue or bytes of a block, and where the engine has
/// no queues for the channel group: it has 48 of them, and a group takes queue_num.
///   scratch    Vec tile of at least 256 bytes that the chip uses; not touched here
///   workspace  global memory of the host's SdmaWorkspaceManager
///   group      channel group; the index of the block when left out
/// Source: PTO ISA, BuildAsyncSession.
template <DmaEngine kEngine = DmaEngine::SDMA, class Scratch,
          std::enable_if_t<is_tile_data_v<Scratch>, int> = 0>
inline bool BuildAsyncSession(Scratch& scratch, __gm__ uint8_t* workspace, AsyncSession& session,
                              uint32_t sync_id = 0,
                              const sdma::SdmaBaseConfig& config = {sdma::kDefaultSdmaBlockBytes, 0,
                                                                    1},
                              uint32_t group = sdma::kAutoChannelGroupIdx) {
  static_assert(
      kEngine == DmaEngine::SDMA,
      "BuildAsyncSession: expected engine SDMA with a scratch tile; RDMA is not emulated");
  static_assert(Scratch::Loc == TileType::Vec &&
                    Scratch::Numel * sizeof(*scratch.data()) >= sdma::UB_ALIGN_SIZE,
                "BuildAsyncSession: expected a scratch tile of 256 bytes in UB");
  pto::detail::CheckNext("BuildAsyncSession", "scratch", scratch);
  if (group == sdma::kAutoChannelGroupIdx) group = npu::current_core->block_idx;
  session = AsyncSession();
  session.contextGm = workspace;
  session.syncId = sync_id;
  session.channelGroupIdx = group;
  session.blockBytes = config.block_bytes;
  session.commBlockOffset = config.comm_block_offset;
  session.queueNum = config.queue_num;
  const bool has_queues = config.queue_num != 0 && config.queue_num <= sdma::kSdmaMaxChannel &&
                          group < sdma::kSdmaMaxChannel / config.queue_num;
  session.valid =
      workspace != nullptr && sync_id <= sdma::kMaxSyncId && has_queues && config.block_bytes != 0;
  return session.valid;
}

// Tests of the vendor's simulator bring these themselves.
#ifndef __CPU_SIM
/// The same for the URMA engine of A5; elsewhere a fault. False without a workspace.
///   rank  whose memory is at the other end of transfers that name no peer
template <DmaEngine kEngine>
inline bool BuildAsyncSession(__gm__ uint8_t* workspace, uint32_t rank, AsyncSession& session) {
  static_assert(kEngine == DmaEngine::URMA,
                "BuildAsyncSession: expected engine URMA without a scratch tile");
  pto::detail::CheckIsA5(npu::RunningCore("BuildAsyncSession"), "BuildAsyncSession<URMA>");
  session = AsyncSession();
  session.engine = kEngine;
  session.contextGm = workspace;
  session.destRankId = rank;
  session.valid = workspace != nullptr;
  return session.valid;
}
template <DmaEngine kEngine>
inline bool BuildAsyncSession(__gm__ uint8_t* workspace, AsyncSession& session) {
  return BuildAsyncSession<kEngine>(workspace, 0, session);
}
#endif

}  // namespace pto::comm
