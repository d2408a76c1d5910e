// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pto/instr/load.hpp"
#include "pto/instr/pipe_push.hpp"

/// How a tile gets out of a slot of a pipe, and words of control through it.
namespace pto::detail {

/// tile at address on this core.
template <class TileT>
[[gnu::always_inline]] inline void PopInPlace(TileT& tile, int64_t address) {
  const TileFacts facts(tile);
  PlaceTile("TPOP", tile, facts, static_cast<uint64_t>(address), facts.Bytes());
}

/// tile = its part of a slot of global memory.
template <class TileT>
[[gnu::always_inline]] inline void LoadPart(TileT& tile, char* slot, const SlotPart& part) {
  using T = typename TileT::DType;
  auto global = SlotAt<T>(slot + part.offset * static_cast<int64_t>(sizeof(T)), tile.GetValidRow(),
                          tile.GetValidCol(), part.row_stride);
  Load("TPOP", tile, global);
  npu::KeepCallSite();
}

/// The part of a vector core, or the whole for the cube core, from a slot of global memory.
template <TileSplitAxis kSplit, class TileT>
[[gnu::always_inline]] inline void PopFromGlobal(TileT& tile, char* slot, int64_t address,
                                                 int64_t sub_block) {
  constexpr TileSplitAxis kPart = TileT::Loc == TileType::Vec ? kSplit : TILE_NO_SPLIT;
  CheckSubBlock("TPOP", kPart, sub_block);
  const SlotPart part = PartOf(kPart, sub_block, tile.GetValidRow(), tile.GetValidCol());
  PopInPlace(tile, address);
  LoadPart(tile, slot, part);
}

NPU_ONE_BODY(void CheckWord(const char* op, const uint32_t* word)) {
  if (word == nullptr) npu::RaiseFault(op, "a pipe with slots in global memory", "NULL");
  CheckGlobalBytes(*npu::current_core, op, word, sizeof(*word));
}

inline npu::Access WordAccess(const uint32_t* word, bool is_write) {
  return {npu::Space::kGm, is_write, word, word != nullptr, sizeof(*word), sizeof(*word)};
}

/// The first element of tile as the word of a slot.
template <class TileT>
[[gnu::noinline]] void PushWord(uint32_t* word, const TileT& tile) {
  const auto operands = [&](auto report) {
    report(npu::Work{1, sizeof(*word), 0}, WordAccess(word, true), StartAccess(tile, 1, 1, false));
  };
  npu::Issue("TPUSH", npu::Pipe::kS, __builtin_return_address(0), operands, [&] {
    CheckTile(*npu::current_core, "TPUSH", "the tile", tile);
    CheckWord("TPUSH", word);
    *word = static_cast<uint32_t>(*tile.data());
  });
}

NPU_ONE_BODY(bool PopWord(const uint32_t* word)) {
  bool is_one = false;
  const auto operands = [&](auto report) {
    report(npu::Work{1, sizeof(*word), 0}, WordAccess(word, false));
  };
  npu::Issue("TPOP", npu::Pipe::kS, __builtin_return_address(0), operands, [&] {
    CheckWord("TPOP", word);
    is_one = *word == 1;
  });
  return is_one;
}

}  // namespace pto::detail
