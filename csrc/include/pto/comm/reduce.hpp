// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/collective.hpp"
#include "pto/instr/elementwise.hpp"

namespace pto {

namespace detail {

NPU_ONE_BODY(NPU_RAISES void RaiseReduceOp(int op)) {
  npu::RaiseFault("TREDUCE", "ReduceOp Sum (0), Max (1) or Min (2)", npu::TextOf(op));
}

/// acc = acc op received.
template <class TileT>
inline void ReduceInto(TileT& acc, TileT& received, comm::ReduceOp op) {
  switch (op) {
    case comm::ReduceOp::Sum:
      TADD(acc, acc, received);
      return;
    case comm::ReduceOp::Max:
      TMAX(acc, acc, received);
      return;
    case comm::ReduceOp::Min:
      TMIN(acc, acc, received);
      return;
  }
  RaiseReduceOp(static_cast<int>(op));
}

/// A tile of the same place with a valid region of rows x cols where that varies.
template <class TileT>
inline TileT PartOfTile(const TileT& tile, int rows, int cols) {
  TileT part = tile;
  part.SetValidShape(rows, cols);
  return part;
}

template <class Group, class Dst, class TileT>
[[gnu::noinline]] void Reduce(Group& group, Dst& dst, TileT& acc, TileT& ping, TileT& pong,
                              comm::ReduceOp op) {
  using Each = typename comm::ParallelGroupTraits<std::remove_cv_t<Group>>::GlobalDataType;
  constexpr const char* kOp = "TREDUCE";
  CheckRelayTypes<Dst, Each, TileT>();
  static_assert(TileT::Loc == TileType::Vec, "TREDUCE: expected Vec tiles");
  const RelayCall call = {kOp, __builtin_return_address(0)};
  CheckGroup(kOp, group);
  const int root = group.GetRootIdx();
  const StoreMode mode = StoreModeOf<typename TileT::DType>(kOp, AtomicType::AtomicNone);
  const GlobalFacts shape(group[root]), to(dst);
  CheckHolds(kOp, "dst", to, shape, 1);
  ForEachChunk(kOp, shape, Staging(acc), [&](const Chunk& chunk) {
    TileT sum = PartOfTile(acc, chunk.rows, chunk.cols);
    LoadChunk(call, Staging(sum), chunk.Of(shape));
    HandOn(PIPE_MTE2, PIPE_V, EVENT_ID0);
    int turn = 0;
    for (int rank = 0; rank < group.GetSize(); ++rank) {
      if (rank == root) continue;
      TileT received = PartOfTile(turn == 0 ? ping : pong, chunk.rows, chunk.cols);
      LoadChunk(call, Staging(received), chunk.Of(TensorOf(kOp, group, rank, shape)));
      HandOn(PIPE_MTE2, PIPE_V, EVENT_ID1 + turn);
      ReduceInto(sum, received, op);
      HandOn(PIPE_V, PIPE_MTE2, EVENT_ID0);
      turn ^= 1;
    }
    HandOn(PIPE_V, PIPE_MTE3, EVENT_ID0);
    StoreChunk(call, chunk.Of(to), Staging(sum), mode, EVENT_ID0);
  });
}

}  // namespace detail

namespace comm {

/// dst = the sum (or the greatest, the least) of the tensors of all ranks, element by element: that
/// of the root first, then the others in the order of ranks, each step as TADD, TMAX or TMIN.
/// The root alone executes it.
///   group      global tensors of one shape, as TPUT's src
///   dst        as TPUT's dst, of at least that shape
///   acc, recv  Vec tiles of one type, which TADD takes; acc is staging as in TPUT, recv takes what
///              the other ranks have
/// Pipes MTE2, V and MTE3, flags of EVENT_ID0 and EVENT_ID1 between them. Source: PTO ISA, TREDUCE.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Dst, class TileT,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TREDUCE(Group& group, Dst& dst, TileT& acc, TileT& recv,
                                                  ReduceOp op, Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Reduce(group, dst, acc, recv, recv, op);
  npu::KeepCallSite();
  return {};
}

/// The same with two tiles in turn for what the other ranks have; flags also of EVENT_ID2.
template <CollEngine kEngine = CollEngine::AIV, class Group, class Dst, class TileT,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TREDUCE(Group& group, Dst& dst, TileT& acc, TileT& ping,
                                                  TileT& pong, ReduceOp op, Events&... events) {
  pto::detail::CheckCollEngine<kEngine>();
  (events.Wait(), ...);
  pto::detail::Reduce(group, dst, acc, ping, pong, op);
  npu::KeepCallSite();
  return {};
}

}  // namespace comm
}  // namespace pto
