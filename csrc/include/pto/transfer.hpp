// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "pto/check.hpp"
#include "pto/global_range.hpp"
#include "pto/pieces.hpp"

/// Transfers between tiles and global memory: what the chip refuses.
namespace pto::detail {

/// global as the chip's TLOAD and TSTORE walk it, whatever its strides say: lines of ND and DN are
/// runs of neighbours, boxes of NZ lie one behind another down a column of them; those stored from
/// an accumulator (loc) lie so from column to column, too. Host code, as in pto-isa's simulator,
/// follows all strides. Source: PTO ISA, TLOAD, TSTORE.
inline GlobalFacts AsRuns(const GlobalFacts& global, TileType loc) {
  GlobalFacts runs = global;
  if (kForHost) return runs;
  const bool is_nz = global.layout == Layout::NZ;
  if (!global.Boxed()) runs.stride[global.LinesAreRows() ? 4 : 3] = 1;
  int64_t dense = 1;
  for (int d = kGlobalDims - 1; is_nz && d >= (loc == TileType::Acc ? 0 : 2); --d) {
    runs.stride[d] = dense;
    dense *= global.shape[d];
  }
  return runs;
}

/// Whether tile and global tensor are moved line by line, each line as it is.
inline bool MovesByLines(const TileFacts& tile, const GlobalFacts& global) {
  return (global.layout == Layout::ND && tile.kind->order == TileOrder::kNd) ||
         (global.layout == Layout::DN && tile.kind->order == TileOrder::kDn);
}

/// A transfer as rules and messages see it.
struct TransferFacts {
  const char* op;
  const TileFacts& tile;
  const GlobalFacts& global;
  const TileKind& kind = *tile.kind;
  TileOrder order = kind.order;
  Layout layout = global.layout;

  bool SameLayout() const {
    return MovesByLines(tile, global) || (layout == Layout::NZ && order == TileOrder::kNz);
  }
  /// A matrix that a load into L1 cuts into boxes.
  bool Boxes() const {
    return (layout == Layout::ND && order == TileOrder::kNz) ||
           (layout == Layout::DN && order == TileOrder::kZn);
  }
  /// The same, or a single line, which goes the same way.
  bool BoxesInto() const {
    const bool is_row = layout == Layout::ND && order == TileOrder::kNd && kind.rows == 1;
    const bool is_column = layout == Layout::DN && order == TileOrder::kDn && kind.cols == 1;
    return kind.loc == TileType::Mat && (Boxes() || is_row || is_column);
  }
  bool SingleLine() const { return kind.rows == 1 || kind.cols == 1; }
};

NPU_ONE_BODY(npu::Text NameOf(Layout layout)) {
  constexpr const char* kNames[] = {"ND",           "DN",        "NZ",
                                    "SCALE",        "MX_A_ND",   "MX_A_DN",
                                    "MX_A_ZZ",      "MX_B_ND",   "MX_B_DN",
                                    "MX_B_NN",      "HIF4_A_ZZ", "HIF4_B_NN",
                                    "NC1HWC0",      "GNC1HWC0",  "NCHW",
                                    "GNCHW",        "NHWC",      "NDC1HWC0",
                                    "NCDHW",        "FRACTAL_Z", "FRACTAL_Z_S16S8",
                                    "FRACTAL_Z_3D", "MAX"};
  return kNames[static_cast<int>(layout)];
}

NPU_ONE_BODY(npu::Text NameOf(TileOrder order)) { return OrderName(order); }

NPU_ONE_BODY(NPU_RAISES void RaiseRange(const char* op, const char* what, int64_t low, int64_t high,
                                        int64_t got)) {
  npu::RaiseFault(op, npu::Text(what) + " from " + npu::TextOf(low) + " to " + npu::TextOf(high),
                  npu::TextOf(got));
}

inline void CheckRange(const char* op, const char* what, int64_t low, int64_t high, int64_t got) {
  if (__builtin_expect(got < low || got > high, 0)) RaiseRange(op, what, low, high, got);
}

/// Faults unless the chip has a path between a tile of this order and a global tensor of this
/// layout.
NPU_ONE_BODY(void CheckLayouts(const TransferFacts& facts, bool boxes_allowed)) {
  const bool allowed =
      facts.SameLayout() || (facts.Boxes() && boxes_allowed) ||
      (facts.SingleLine() && facts.layout <= Layout::DN && facts.order <= TileOrder::kDn);
  const bool wide = facts.kind.element_bytes == 8 && facts.layout == Layout::NZ;
  if (allowed && !wide) return;
  npu::RaiseFault(
      facts.op,
      boxes_allowed ? "layouts ND and ND, DN and DN, NZ and NZ, ND and NZ or DN and ZN of "
                      "the global tensor and the tile (the first two for 64-bit elements)"
                    : "layouts ND and ND, DN and DN or NZ and NZ of the global tensor and "
                      "the tile (the first two for 64-bit elements)",
      NameOf(facts.layout) + " and " + NameOf(facts.order) + ", the " + facts.tile.Describe());
}

/// Faults where the transfer of a matrix into boxes does not fit into the fields of its
/// instruction. Source: PTO ISA, TLOAD.
NPU_ONE_BODY(void CheckBoxing(const TransferFacts& facts)) {
  const bool rows_first = facts.layout == Layout::ND;
  const int64_t* shape = facts.global.shape;
  const int64_t all_rows = facts.global.Rows(), all_cols = facts.global.Cols();
  if (all_rows > facts.kind.rows || all_cols > facts.kind.cols) {
    npu::RaiseFault(facts.op,
                    "a global tensor of at most " +
                        TileFacts::Extent(facts.kind.rows, facts.kind.cols) +
                        " elements (the extent of the tile)",
                    TileFacts::Extent(all_rows, all_cols));
  }
  CheckRange(facts.op, "product of shape[0], [1] and [2] of a matrix that is cut into boxes", 0, 1,
             shape[0] * shape[1] * shape[2]);
  CheckRange(facts.op, rows_first ? "rows" : "columns", 0, 16384, shape[rows_first ? 3 : 4]);
  CheckRange(facts.op, rows_first ? "columns" : "rows", 0, 65535, shape[rows_first ? 4 : 3]);
  CheckRange(facts.op, rows_first ? "stride[3]" : "stride[4]", 0, 65535,
             facts.global.stride[rows_first ? 3 : 4]);
}

/// Faults where a transfer of bursts does not fit into the fields of its instruction. whole_blocks:
/// those of a Mat tile are counted in blocks of 32 bytes.
NPU_ONE_BODY(void CheckBursts(const TransferFacts& facts, bool whole_blocks)) {
  constexpr int kBurstDim[] = {3, 4, 1};  // by TileOrder: the dimension that counts bursts
  constexpr const char* kNames[] = {"shape[3]", "shape[4]", "shape[1]"};
  const auto order = static_cast<int>(facts.order);
  if (facts.order <= TileOrder::kNz) {
    CheckRange(facts.op, kNames[order], 0, 4095, facts.global.shape[kBurstDim[order]]);
  }
  if (facts.kind.loc == TileType::Vec && facts.order == TileOrder::kNd) {
    CheckRange(facts.op, "rows of a Vec tile", 1, 4095, facts.kind.rows);
  }
  if (facts.layout == Layout::NZ) {
    const int64_t bytes = facts.global.shape[4] * static_cast<int64_t>(facts.kind.element_bytes);
    CheckRange(facts.op, "shape[3] of layout NZ", 16, 16, facts.global.shape[3]);
    CheckRange(facts.op, "bytes in shape[4] of layout NZ", 32, 32, bytes);
  } else if (facts.kind.loc == TileType::Mat && whole_blocks) {
    const int64_t line = facts.global.shape[facts.layout == Layout::ND ? 4 : 3];
    if (line * static_cast<int64_t>(facts.kind.element_bytes) % 32 != 0) {
      npu::RaiseFault(
          facts.op, "lines of a multiple of 32 bytes, between L1 and global memory",
          npu::TextOf(line) + " elements of " + npu::TextOf(facts.kind.element_bytes) + " bytes");
    }
  }
}

NPU_ONE_BODY(NPU_RAISES void RaiseGlobalShape(const char* op, int64_t valid_rows,
                                              int64_t valid_cols, int64_t rows, int64_t cols)) {
  npu::RaiseFault(op,
                  "a global tensor of " + TileFacts::Extent(valid_rows, valid_cols) +
                      " elements (the valid region of the tile)",
                  TileFacts::Extent(rows, cols));
}

inline bool HasShapeOf(const GlobalFacts& global, const TileFacts& tile) {
  return global.Rows() == tile.valid_rows && global.Cols() == tile.valid_cols;
}

/// Whether the chip counts lines by the global tensor and their length by the valid region, neither
/// of them empty.
inline bool HasShapeOfChip(const TileFacts& tile, const GlobalFacts& global) {
  return MovesByLines(tile, global) && tile.valid_rows > 0 && tile.valid_cols > 0 &&
         !global.Empty();
}

/// Faults unless the shape of the global tensor is the valid region of the tile, or lines of a Vec
/// tile move, of which there may be none.
inline void CheckGlobalShape(const TransferFacts& facts) {
  if (__builtin_expect(HasShapeOf(facts.global, facts.tile), 1)) return;
  if (facts.kind.loc == TileType::Vec) {
    const bool is_empty = facts.tile.valid_rows == 0 || facts.tile.valid_cols == 0;
    if (is_empty || HasShapeOfChip(facts.tile, facts.global)) return;
  }
  RaiseGlobalShape(facts.op, facts.tile.valid_rows, facts.tile.valid_cols, facts.global.Rows(),
                   facts.global.Cols());
}

/// A transfer line by line where the global tensor has another shape than the valid region, as the
/// chip executes it: as many lines as the tensor has, each as long as the valid region; lines that
/// the tile lacks lie behind it. On A2/A3 the gaps between the lines of the tensor stay, on A5
/// their starts. Source: PTO ISA, TLOAD, TSTORE.
struct ChipTransfer {
  TileKind kind;
  TileFacts tile;
  GlobalFacts global;

  ChipTransfer(const TileFacts& whole, const GlobalFacts& view)
      : kind(*whole.kind), tile(kind, whole.data), global(view) {
    const bool by_rows = kind.order == TileOrder::kNd;
    const int along = by_rows ? 4 : 3, across = by_rows ? 3 : 4;
    const int64_t lines = by_rows ? view.Rows() : view.Cols();
    const int64_t length = by_rows ? whole.valid_cols : whole.valid_rows;
    if (!IsA5()) global.stride[across] += length - view.shape[along];
    global.shape[along] = length;
    kind.lines.lines = static_cast<size_t>(std::max<int64_t>(lines, 0));
    (by_rows ? kind.rows : kind.cols) = static_cast<int>(kind.lines.lines);
    tile.valid_rows = by_rows ? kind.rows : whole.valid_rows;
    tile.valid_cols = by_rows ? whole.valid_cols : kind.cols;
  }
  ChipTransfer(const ChipTransfer&) = delete;
  ChipTransfer& operator=(const ChipTransfer&) = delete;

 private:
  static bool IsA5() {
    const npu::Core* core = npu::current_core;
    return core != nullptr && core->arch->generation == npu::Generation::kA5;
  }
};

NPU_ONE_BODY(NPU_RAISES void RaiseBehind(const TransferFacts& facts, int64_t end)) {
  const npu::Core& core = *npu::current_core;
  const npu::Space space = SpaceOf(facts.kind.loc);
  npu::RaiseFault(
      facts.op,
      "lines of a global tensor that end within the " +
          npu::TextOf(core.arch->capacity[static_cast<int>(space)]) + " bytes of " +
          npu::SpaceName(space) + " from the " + facts.tile.Describe() + " on",
      TileFacts::Extent(facts.global.Rows(), facts.global.Cols()) + ", end " + npu::TextOf(end));
}

/// Faults where more lines move than the tile has, beyond its space. Holds with checks off too.
NPU_ONE_BODY(void CheckEnd(const TransferFacts& facts, const TileFacts& moved)) {
  const npu::Core& core = *npu::current_core;
  const auto space = static_cast<int>(SpaceOf(facts.kind.loc));
  const int64_t end = moved.data - core.scratchpad[space] + static_cast<int64_t>(moved.Bytes());
  const int64_t lines = static_cast<int64_t>(moved.kind->lines.lines);
  const bool is_longer = lines > static_cast<int64_t>(facts.kind.lines.lines);
  if (is_longer && end > static_cast<int64_t>(core.arch->capacity[space])) RaiseBehind(facts, end);
}

/// Calls move(tile, global) with what the chip moves.
template <class Move>
inline void InShapeOfChip(const TileFacts& tile, const GlobalFacts& global, const Move& move) {
  if (__builtin_expect(HasShapeOf(global, tile) || !HasShapeOfChip(tile, global), 1)) {
    return move(tile, global);
  }
  const ChipTransfer moved(tile, global);
  move(moved.tile, moved.global);
}

}  // namespace pto::detail
