// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/comm/relay.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

template <class Dst, class Src, class TileT>
[[gnu::noinline]] void PutOrGet(const char* op, Dst& dst, Src& src, TileT& ping, TileT& pong,
                                AtomicType atomic) {
  CheckRelayTypes<Dst, Src, TileT>();
  const Staging first(ping), second(pong);
  const Staging* const tiles[2] = {&first, &second};
  const GlobalFacts to(dst), from(src);
  CheckHolds(op, "dst", to, from, 1);
  Relay({op, __builtin_return_address(0)}, to, from, tiles,
        StoreModeOf<typename TileT::DType>(op, atomic));
}

}  // namespace detail

namespace comm {

/// dst = src, where dst is memory of another rank; or dst += src.
///   dst, src  global tensors of one element type and layout; dst has at least the shape of src,
///             which is what is moved. Where src does not fit staging it is moved a tile at a time:
///             layouts ND and DN only, and the extents of a valid region that is a constant divide
///             shape[3] and shape[4] of src
///   staging   Vec or Mat tile with a valid region of at least 1x1, which is how much goes at a
///             time; what fits at once fills it, as in TLOAD
///   kAtomic   AtomicAdd adds element by element: int8, int16, int32, half, bfloat16, float
/// Pipes MTE2 and MTE3, flags of EVENT_ID0 between them. Source: PTO ISA, TPUT.
template <AtomicType kAtomic = AtomicType::AtomicNone, class Dst, class Src, class TileT,
          class... Events, std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUT(Dst& dst, Src& src, TileT& staging,
                                               Events&... events) {
  (events.Wait(), ...);
  pto::detail::PutOrGet("TPUT", dst, src, staging, staging, kAtomic);
  npu::KeepCallSite();
  return {};
}

/// The same with the sort of store given at run time.
template <class Dst, class Src, class TileT, class... Events>
[[gnu::always_inline]] inline RecordEvent TPUT(Dst& dst, Src& src, TileT& staging,
                                               AtomicType atomic, Events&... events) {
  (events.Wait(), ...);
  pto::detail::PutOrGet("TPUT", dst, src, staging, staging, atomic);
  npu::KeepCallSite();
  return {};
}

/// The same with two staging tiles in turn; flags of EVENT_ID0 and EVENT_ID1.
template <AtomicType kAtomic = AtomicType::AtomicNone, class Dst, class Src, class TileT,
          class... Events, std::enable_if_t<is_any_tile_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TPUT(Dst& dst, Src& src, TileT& ping, TileT& pong,
                                               Events&... events) {
  (events.Wait(), ...);
  pto::detail::PutOrGet("TPUT", dst, src, ping, pong, kAtomic);
  npu::KeepCallSite();
  return {};
}

/// dst = src, where src is memory of another rank. Operands, pipes and flags are those of TPUT.
/// Source: PTO ISA, TGET.
template <class Dst, class Src, class TileT, class... Events,
          std::enable_if_t<all_events_v<Events...>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGET(Dst& dst, Src& src, TileT& staging,
                                               Events&... events) {
  (events.Wait(), ...);
  pto::detail::PutOrGet("TGET", dst, src, staging, staging, AtomicType::AtomicNone);
  npu::KeepCallSite();
  return {};
}

/// The same with two staging tiles in turn; flags of EVENT_ID0 and EVENT_ID1.
template <class Dst, class Src, class TileT, class... Events,
          std::enable_if_t<is_any_tile_v<TileT>, int> = 0>
[[gnu::always_inline]] inline RecordEvent TGET(Dst& dst, Src& src, TileT& ping, TileT& pong,
                                               Events&... events) {
  (events.Wait(), ...);
  pto::detail::PutOrGet("TGET", dst, src, ping, pong, AtomicType::AtomicNone);
  npu::KeepCallSite();
  return {};
}

}  // namespace comm
}  // namespace pto
