// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "pto/pad.hpp"
#include "pto/transfer.hpp"

namespace pto {

namespace detail {

template <class TileT, class Global>
inline void CheckLoad(const TileT& tile, const Global& global) {
  npu::Core& core = *npu::current_core;
  CheckTile(core, "TLOAD", "the tile", tile);
  if (!core.check_limits) return;
  constexpr bool kIntoL1 = TileT::Loc == TileType::Mat;
  const GlobalOrder<Global> order(global);
  const TransferFacts facts("TLOAD", tile, order);
  CheckLayouts(facts, kIntoL1);
  CheckGlobalShape(facts);
  if (kIntoL1 && facts.Boxes()) {
    CheckBoxing(facts);
  } else {
    CheckBursts(facts, !facts.SingleLine());  // a single line goes the way of boxes
  }
  CheckGlobalMemory(core, "TLOAD", global.data(), order.shape, order.stride,
                    sizeof(typename Global::DType));
}

/// The chip moves whole blocks of 32 bytes: the rest of a line's last block takes the pad value.
template <class TileT>
inline void PadLines(const TileT& tile) {
  using T = typename TileT::DType;
  constexpr size_t kBlock = npu::kTileAlignment / sizeof(T);
  const auto lines = LinesOf(tile);
  const size_t rest = (kBlock - lines.length % kBlock) % kBlock;
  if (rest == 0 || lines.length + rest > Order<TileT>::kLength) return;
  const T pad = PadElement<T>(TileT::PadVal);
  for (size_t line = 0; line < lines.count; ++line) {
    std::fill_n(lines(line, lines.length), rest, pad);
  }
}

template <class TileT, class Global>
[[gnu::noinline]] void Load(TileT& tile, Global& global) {
  const void* call_site = __builtin_return_address(0);
  using T = typename TileT::DType;
  using Move = Transfer<TileT, Global>;
  static_assert(TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat,
                "TLOAD: expected a Vec or Mat tile");
  static_assert(sizeof(T) == sizeof(typename Global::DType),
                "TLOAD: expected tile and global tensor of one element size");
  const auto operands = [&](auto report) {
    const auto lines = LinesOf(tile);
    const uint64_t elements = lines.count * lines.length;
    report(npu::Work{elements, elements * sizeof(T), 0}, Writes(tile),
           Move::GlobalAccess(tile, global, false));
  };
  npu::Issue("TLOAD", npu::Pipe::kMte2, call_site, operands, [&] {
    CheckLoad(tile, global);
    Move::ForEachPiece(tile, global,
                       [](size_t, size_t, T* to, const auto* from, int64_t step, size_t count) {
                         CopyRun<Order<TileT>::kRun>(to, 1, from, step, count);
                       });
    PadLines(tile);
  });
}

}  // namespace detail

/// tile = global over the valid region of tile; behind it only the rest of a line's last 32 bytes
/// is set, to PadVal.
///   tile    Vec or Mat tile; its valid region has the shape of global
///   global  elements of the size of the tile's. Layouts of global and tile: ND and ND, DN and DN,
///           NZ and NZ; into a Mat tile also ND and NZ, DN and ZN (a matrix of at most 16384 lines
///           of 65535 elements). 64-bit elements: ND and DN only.
/// Pipe MTE2. Source: PTO ISA, TLOAD.
template <class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TLOAD(TileT& tile, Global& global, Events&... events) {
  (events.Wait(), ...);
  detail::Load(tile, global);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
