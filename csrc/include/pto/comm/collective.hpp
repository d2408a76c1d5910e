// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/relay.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(NPU_RAISES void RaiseGroup(const char* op, int ranks, int root)) {
  npu::RaiseFault(op, "a group of at least 1 rank and a root in it",
                  npu::TextOf(ranks) + " ranks, root " + npu::TextOf(root));
}

NPU_ONE_BODY(NPU_RAISES void RaiseGroupShape(const char* op, int rank, int dim, int64_t expected,
                                             int64_t got)) {
  npu::RaiseFault(op, "global tensors of one shape for all ranks",
                  "a shape[" + npu::TextOf(dim) + "] of " + npu::TextOf(got) + " for rank " +
                      npu::TextOf(rank) + " where others have " + npu::TextOf(expected));
}

template <class Group>
inline void CheckGroup(const char* op, const Group& group) {
  const int ranks = group.GetSize(), root = group.GetRootIdx();
  const bool good = group.tensors != nullptr && ranks > 0 && root >= 0 && root < ranks;
  if (__builtin_expect(!good, 0)) RaiseGroup(op, ranks, root);
}

/// The global tensor of a rank, which has to have the shape that the group has.
template <class Group>
inline GlobalFacts TensorOf(const char* op, const Group& group, int rank,
                            const GlobalFacts& shape) {
  const GlobalFacts facts(group[rank]);
  for (int d = 0; d < kGlobalDims; ++d) {
    if (facts.shape[d] != shape.shape[d]) {
      RaiseGroupShape(op, rank, d, shape.shape[d], facts.shape[d]);
    }
  }
  return facts;
}

/// Of a global tensor with the parts of all ranks behind each other along dimension 3, that of
/// rank.
inline GlobalFacts PartOf(const GlobalFacts& whole, const GlobalFacts& shape, int rank) {
  GlobalFacts part = whole;
  part.data += rank * shape.shape[3] * whole.stride[3] * static_cast<int64_t>(whole.element_bytes);
  for (int d = 0; d < kGlobalDims; ++d) part.shape[d] = shape.shape[d];
  return part;
}

/// TGATHER (kGathers) and TSCATTER.
template <bool kGathers, class Group, class Global, class TileT>
[[gnu::noinline]] void Distribute(Group& group, Global& root, TileT& ping, TileT& pong) {
  using Each = typename comm::ParallelGroupTraits<std::remove_cv_t<Group>>::GlobalDataType;
  constexpr const char* kOp = kGathers ? "TGATHER" : "TSCATTER";
  if constexpr (kGathers) {
    CheckRelayTypes<Global, Each, TileT>();
  } else {
    CheckRelayTypes<Each, Global, TileT>();
  }
  const RelayCall call = {kOp, __builtin_return_address(0)};
  CheckGroup(kOp, group);
  const Staging first(ping), second(pong);
  const Staging* const tiles[2] = {&first, &second};
  const StoreMode mode = StoreModeOf<typename TileT::DType>(kOp, AtomicType::AtomicNone);
  const GlobalFacts shape(group[0]), whole(root);
  CheckHolds(kOp, kGathers ? "dst" : "src", whole, shape, group.GetSize());
  for (int rank = 0; rank < group.GetSize(); ++rank) {
    const GlobalFacts theirs = TensorOf(kOp, group, rank, shape);
    const GlobalFacts ours = PartOf(whole, shape, rank);
    Relay(call, kGathers ? ours : theirs, kGathers ? theirs : ours, tiles, mode);
  }
}

template <class Group, class Src, class TileT>
[[gnu::noinline]] void Broadcast(Group& group, Src& src, TileT& ping, TileT& pong) {
  using Each = typename comm::ParallelGroupTraits<std::remove_cv_t<Group>>::GlobalDataType;
  constexpr const char* kOp = "TBROADCAST";
  CheckRelayTypes<Each, Src, TileT>();
  const RelayCall call = {kOp, __builtin_return_address(0)};
  CheckGroup(kOp, group);
  const Staging tiles[2] = {Staging(ping), Staging(pong)};
  const StoreMode mode = StoreModeOf<typename TileT::DType>(kOp, AtomicType::AtomicNone);
  const GlobalFacts from(src), shape(group[0]);
  CheckHolds(kOp, "tensors of the group", shape, from, 1);
  int turn = 0;
  ForEachChunk(kOp, from, tiles[0], [&](const Chunk& chunk) {
    const Staging part = tiles[turn].Of(chunk.rows, chunk.cols);
    LoadChunk(call, part, chunk.Of(from));
    HandOn(PIPE_MTE2, PIPE_MTE3, turn);
    for (int rank = 0; rank < group.GetSize(); ++rank) {
      StoreChunk(call, chunk.Of(TensorOf(kOp, group, rank, shape)), part, mode, turn);
    }
    turn ^= 1;
  });
}

template <comm::CollEngine kEngine>
constexpr void CheckCollEngine() {
  static_assert(kEngine == comm::CollEngine::AIV,
                "expected CollEngine::AIV; the collective unit of A5 is not emulated");
}

}  // namespace detail

namespace comm {

/// The tensors of all ranks behind each other in dst: that of rank r starts r times its shape[3]
/// further along dimension 3. The root alone executes it.
///   group    global tensors of one shape, as TPUT's src
///   dst      as TPUT's dst, of at least that shape, and shape[3] times the ranks
///   staging  as in TPUT
/// Pipes MTE2 and MTE3, flags of EVENT_ID0 between them. Source: PTO ISA, TGATHER.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Dst, class TileT,
          class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGATHER(Group& group, Dst& dst, TileT& staging,
                                                  Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Distribute<true>(group, dst, staging, staging);
  npu::KeepCallSite();
  return {};
}

/// The same with two staging tiles in turn; flags of EVENT_ID0 and EVENT_ID1.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Dst, class TileT,
          class... Events, std::enable_if_t<is_any_tile_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGATHER(Group& group, Dst& dst, TileT& ping, TileT& pong,
                                                  Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Distribute<true>(group, dst, ping, pong);
  npu::KeepCallSite();
  return {};
}

/// The reverse of TGATHER: each rank's tensor is its part of src. Source: PTO ISA, TSCATTER.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Src, class TileT,
          class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TSCATTER(Group& group, Src& src, TileT& staging,
                                                   Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Distribute<false>(group, src, staging, staging);
  npu::KeepCallSite();
  return {};
}

/// The same with two staging tiles in turn; flags of EVENT_ID0 and EVENT_ID1.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Src, class TileT,
          class... Events, std::enable_if_t<is_any_tile_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TSCATTER(Group& group, Src& src, TileT& ping, TileT& pong,
                                                   Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Distribute<false>(group, src, ping, pong);
  npu::KeepCallSite();
  return {};
}

/// Each rank's tensor = src, that of the root too. The root alone executes it.
///   group    global tensors of one shape, as TPUT's dst
///   src, staging  as in TPUT
/// Pipes MTE2 and MTE3, flags of EVENT_ID0 between them. Source: PTO ISA, TBROADCAST.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Src, class TileT,
          class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TBROADCAST(Group& group, Src& src, TileT& staging,
                                                     Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Broadcast(group, src, staging, staging);
  npu::KeepCallSite();
  return {};
}

/// The same with two staging tiles in turn; flags of EVENT_ID0 and EVENT_ID1.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Src, class TileT,
          class... Events, std::enable_if_t<is_any_tile_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TBROADCAST(Group& group, Src& src, TileT& ping,
                                                     TileT& pong, Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Broadcast(group, src, ping, pong);
  npu::KeepCallSite();
  return {};
}

}  // namespace comm
}  // namespace pto
