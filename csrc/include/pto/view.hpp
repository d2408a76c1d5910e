// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pto/instr/load.hpp"
#include "pto/straight.hpp"

/// Tiles that are global memory. The chip has to carry what it computes to its cores and back; a
/// host spends most of the time of short kernels on such copies. A kernel that promises what is
/// said below is spared them; it computes the same. Not on the chip: a kernel for both has TLOAD
/// and nothing in their place.
namespace pto {

/// TLOAD(tile, global), or tile becomes a view of global: until tile is assigned again nobody
/// writes to that memory, and nobody looks for the data at the place where tile was.
/// Vec tiles of whole rows that lie as in global memory; for others, and while an observer listens,
/// it is TLOAD. Checked and counted as TLOAD.
template <class TileT, class Global>
inline void LoadAsView(TileT& tile, Global& global) {
  if constexpr (detail::kMayBeStraight<TileT, Global>) {
    const detail::StraightRows rows = detail::FindAlike("TLOAD", tile, global);
    if (rows.tile != nullptr) {
      npu::CountInstruction(*npu::current_core);
      tile.data() = reinterpret_cast<typename TileT::DType*>(rows.global);
      return;
    }
  }
  TLOAD(tile, global);
}

/// Puts tile, which a TSTORE(global, tile) will follow before any other transfer, into global
/// memory, where it can be; that TSTORE then has nothing to move. Between the two nobody looks for
/// the data at the place where tile was, nor at what global held before.
template <class TileT, class Global>
inline void AssignToResult(TileT& tile, const Global& global) {
  if constexpr (detail::kMayBeStraight<TileT, Global>) {
    const detail::StraightRows rows = detail::FindAlike("TSTORE", tile, global);
    if (rows.tile != nullptr) {
      tile.data() = reinterpret_cast<typename TileT::DType*>(rows.global);
    }
  }
}

}  // namespace pto
