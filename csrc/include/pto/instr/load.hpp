// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "pto/event.hpp"
#include "pto/instr/load_conv.hpp"
#include "pto/instr/load_scales.hpp"
#include "pto/pad.hpp"
#include "pto/pairs_on_host.hpp"
#include "pto/straight.hpp"
#include "pto/transfer.hpp"
#include "pto/view_on_host.hpp"

namespace pto {

namespace detail {

/// moved, from: what the chip moves of tile and global tensor.
NPU_ONE_BODY(void CheckLoad(const TransferFacts& facts, const TileFacts& moved,
                            const GlobalFacts& from)) {
  npu::Core& core = *npu::current_core;
  CheckTile(core, facts.op, "the tile", facts.tile);
  CheckEnd(facts, moved);
  if (!core.check_limits) return;
  const bool into_l1 = facts.kind.loc == TileType::Mat;
  if (npu::TakesHostForms(core) && !facts.BoxesInto()) {
    CheckGlobalShape(facts);
    return CheckGlobalMemory(core, facts.op, from);
  }
  CheckLayouts(facts, into_l1);
  if (!facts.BoxesInto()) CheckGlobalShape(facts);
  if (facts.BoxesInto()) {
    CheckBoxing(facts);
  } else {
    CheckBursts(facts, !facts.SingleLine());
  }
  CheckGlobalMemory(core, facts.op, from);
}

/// The chip moves whole blocks of 32 bytes: elements that a line lacks to its last block's end.
/// Runs of boxes of scales are shorter than a block: behind one lies the next line, not the rest.
inline size_t PaddingOf(const TileFacts& tile) {
  const LineOrder& order = tile.kind->lines;
  const size_t block = npu::kTileAlignment / tile.kind->element_bytes, length = tile.Length();
  const size_t rest = (block - length % block) % block;
  return length + rest > order.length || order.run % block != 0 ? 0 : rest;
}

/// They take the pad value.
NPU_ONE_BODY(void PadLines(const TileFacts& tile, const void* pad)) {
  const LineOrder& order = tile.kind->lines;
  const size_t bytes = tile.kind->element_bytes, length = tile.Length();
  const size_t rest = PaddingOf(tile);
  if (rest == 0) return;
  for (size_t line = 0; line < tile.Lines(); ++line) {
    auto* end = reinterpret_cast<char*>(tile.data + order.Offset(line, length) * bytes);
    CopyRun(bytes, end, 1, static_cast<const char*>(pad), 0, rest);
  }
}

/// What a load writes: the valid region of tile, but for a matrix that is cut into boxes the size
/// of the matrix, as the chip does. Cut to the extent of the tile.
NPU_ONE_BODY(TileFacts WrittenPart(const TileFacts& tile, const GlobalFacts& global)) {
  TileFacts part = tile;
  if (!TransferFacts{"TLOAD", tile, global}.BoxesInto()) return part;
  part.valid_rows = static_cast<int>(std::clamp<int64_t>(global.Rows(), 0, tile.kind->rows));
  part.valid_cols = static_cast<int>(std::clamp<int64_t>(global.Cols(), 0, tile.kind->cols));
  return part;
}

NPU_ONE_BODY(void LoadTile(const char* op, const void* call_site, const TileFacts& whole,
                           const GlobalFacts& view, const void* pad)) {
  const auto move = [&](const TileFacts& tile, const GlobalFacts& global) {
    const auto operands = [&](auto report) {
      const uint64_t elements = tile.Lines() * tile.Length();
      const LinePart written = {0, 0, tile.Lines(), tile.Length() + PaddingOf(tile)};
      report(npu::Work{elements, elements * global.element_bytes, 0}, AccessOf(tile, written, true),
             GlobalAccess(tile, global, false));
    };
    npu::Issue(op, npu::Pipe::kMte2, call_site, operands, [&] {
      CheckLoad({op, whole, view}, tile, global);
      CopyFromGlobal(tile, global);
      PadLines(tile, pad);
    });
  };
  InShapeOfChip(WrittenPart(whole, view), view, move);
}

/// The short way of rows; false where they have to go the long one.
NPU_ONE_BODY(bool LoadRows(const char* op, const void* call_site, const StraightRows& rows,
                           const TileFacts& tile, const void* pad)) {
  if (__builtin_expect(!IsInMemory(op, rows), 0)) return false;
  const auto operands = [&](auto report) {
    const size_t bytes = tile.kind->element_bytes;
    report(WorkOf(rows, bytes), TileAccess(rows, true, PaddingOf(tile) * bytes),
           GlobalAccess(rows, false));
  };
  npu::Issue(op, npu::Pipe::kMte2, call_site, operands, [&] {
    CopyRows(reinterpret_cast<char*>(rows.tile), rows.tile_pitch, rows.global, rows.global_pitch,
             rows.rows, rows.bytes);
    if (rows.bytes % npu::kTileAlignment != 0) PadLines(tile, pad);
  });
  return true;
}

template <class TileT, class Global>
[[gnu::noinline]] void Load(const char* op, TileT& tile, Global& global) {
  using T = typename TileT::DType;
  static_assert(kForHost || TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat,
                "TLOAD: expected a Vec or Mat tile");
  static_assert(sizeof(T) == sizeof(typename Global::DType),
                "TLOAD: expected tile and global tensor of one element size");
  const void* call_site = __builtin_return_address(0);
  const T pad = PadElement<T>(TileT::PadVal);
  if constexpr (kMayBeStraight<TileT, Global>) {
    const StraightRows rows = PlainRows(tile, global);
    if (__builtin_expect(
            rows.tile != nullptr && LoadRows(op, call_site, rows, TileFacts(tile), &pad), 1)) {
      return;
    }
  }
  if constexpr (kForHost && kPacked<T> != 1) {
    if (MovesPairsOnHost(op, tile, global)) {
      MovePairsOnHost<false>(op, call_site, tile, global);
      PadPairs(tile, pad);
      return PadLines(TileFacts(tile), &pad);
    }
  }
  if constexpr (kForHost) {
    LoadTile(op, call_site, TileFacts(tile), ViewOnHost(tile, global), &pad);
  } else {
    LoadTile(op, call_site, TileFacts(tile), AsRuns(GlobalFacts(global), TileT::Loc), &pad);
  }
}

}  // namespace detail

/// tile = global over the valid region of tile; behind it only the rest of a line's last 32 bytes
/// is set, to PadVal.
///   tile    Vec or Mat tile; its valid region has the shape of global. Of a Vec tile it may have
///           another: then as many lines move as global has, each as long as the valid region, into
///           what lies behind the tile too. On A2/A3 they lie as far apart as gaps that stay let
///           them, on A5 as in global
///   global  elements of the size of the tile's. Layouts of global and tile: ND and ND, DN and DN,
///           NZ and NZ; into a Mat tile also ND and NZ, DN and ZN: a matrix of at most 16384 lines
///           of 65535 elements. These, and single lines in L1, are moved whatever the valid region,
///           and have to fit into the extent of tile. 64-bit elements: ND and DN only.
/// Or a ConvTile of kind Mat, all of it: both of layout NC1HWC0, NDC1HWC0 (the C0 of global in no
/// dimension of it), FRACTAL_Z or FRACTAL_Z_3D (the tile may lack a first dimension of extent 1),
/// of one shape, with 32 bytes in the last dimension.
/// Or, on A5, scales of products: MX_A_ZZ, MX_A_ND, MX_A_DN into a Mat tile of layout ZZ, MX_B_NN,
/// MX_B_ND, MX_B_DN into one of layout NN, with boxes of 32 bytes: over the valid region of tile,
/// of ZZ and NN all of global. A Mat tile on a vector core of A5, where the kernel also runs on the
/// cube core: nothing. Pipe MTE2. Source: PTO ISA, TLOAD.
template <class TileT, class Global, class... Events>
[[gnu::always_inline]] inline RecordEvent TLOAD(TileT& tile, Global& global, Events&... events) {
  (events.Wait(), ...);
  if (detail::IsOfCubeCore<TileT>()) return {};
  if constexpr (is_conv_tile_v<TileT>) {
    detail::LoadConv(tile, global);
  } else if constexpr (detail::IsScaleLayout(Global::layout)) {
    detail::LoadScales(tile, global);
  } else {
    detail::Load("TLOAD", tile, global);
  }
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
