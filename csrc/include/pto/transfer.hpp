// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/global_range.hpp"
#include "pto/global_tensor.hpp"
#include "pto/layout.hpp"

/// Transfers between tiles and global memory: which elements lie where, and what the chip refuses.
namespace pto::detail {

/// Order of a global tensor as lines along its contiguous dimension: rows of ND, columns of DN,
/// rows of NZ, which come in runs of the last dimension. Row and column of an element:
///   ND  row over dimensions 0 to 3, column in 4;  DN  row in 3, column over 0, 1, 2, 4;
///   NZ  row over 2, 3 (16 to a box), column over 0, 1, 4 (32 bytes to a box)
template <class Global>
struct GlobalOrder {
  static constexpr bool kLinesAreRows = Global::layout != Layout::DN;
  static constexpr bool kBoxed = Global::layout == Layout::NZ;

  int64_t shape[kGlobalDims], stride[kGlobalDims];

  explicit GlobalOrder(const Global& global) {
    for (int d = 0; d < kGlobalDims; ++d) {
      shape[d] = global.GetShape(d);
      stride[d] = global.GetStride(d);
    }
  }

  int64_t Rows() const {
    if (Global::layout == Layout::ND) return shape[0] * shape[1] * shape[2] * shape[3];
    return kBoxed ? shape[2] * shape[3] : shape[3];
  }
  int64_t Cols() const {
    if (Global::layout == Layout::ND) return shape[4];
    return shape[0] * shape[1] * (kBoxed ? 1 : shape[2]) * shape[4];
  }

  /// Elements of a line up to the next gap.
  size_t Run() const { return kBoxed ? static_cast<size_t>(shape[4]) : SIZE_MAX; }
  /// Distance of neighbours within a run.
  int64_t Step() const { return stride[kLinesAreRows ? 4 : 3]; }

  /// Distance of the first element of line from the start.
  int64_t LineStart(int64_t line) const {
    if constexpr (kBoxed) {
      return line / shape[3] * stride[2] + line % shape[3] * stride[3];
    } else {
      constexpr int kLast = kLinesAreRows ? 3 : 4;
      if (line < shape[kLast]) return line * stride[kLast];
      int64_t offset = line % shape[kLast] * stride[kLast];
      line /= shape[kLast];
      for (int d = 2; d >= 0 && line != 0; --d) {
        offset += line % shape[d] * stride[d];
        line /= shape[d];
      }
      return offset;
    }
  }

  /// Distance of element at of a line from the line's first.
  int64_t InLine(int64_t at) const {
    if constexpr (kBoxed) {
      const int64_t box = at / shape[4];
      return box / shape[1] * stride[0] + box % shape[1] * stride[1] + at % shape[4] * stride[4];
    } else {
      return at * Step();
    }
  }
};

/// Order of a tile's elements as the rules of transfers name it.
enum class TileOrder : uint8_t { kNd, kDn, kNz, kZn, kZz, kNn };

template <class TileT>
constexpr TileOrder TileOrderOf() {
  if (!TileT::isBoxedLayout) return TileT::isRowMajor ? TileOrder::kNd : TileOrder::kDn;
  if (TileT::isRowMajor) return TileT::isInnerRowMajor ? TileOrder::kZz : TileOrder::kZn;
  return TileT::isInnerRowMajor ? TileOrder::kNz : TileOrder::kNn;
}

/// A transfer without its types, for rules and messages.
struct TransferFacts {
  const char* op;
  TileFacts tile;
  TileOrder order;
  Layout layout;
  size_t element_bytes;
  int64_t rows, cols;  // of the global tensor
  int64_t shape[kGlobalDims];
  int64_t line_stride;  // in elements, of dimension 3 in ND, 4 in DN

  template <class TileT, class Global>
  TransferFacts(const char* instruction, const TileT& a_tile, const GlobalOrder<Global>& global)
      : op(instruction),
        tile(a_tile),
        order(TileOrderOf<TileT>()),
        layout(Global::layout),
        element_bytes(sizeof(typename TileT::DType)),
        rows(global.Rows()),
        cols(global.Cols()),
        line_stride(global.stride[Global::layout == Layout::DN ? 4 : 3]) {
    std::copy_n(global.shape, kGlobalDims, shape);
  }

  bool SameLayout() const {
    return (layout == Layout::ND && order == TileOrder::kNd) ||
           (layout == Layout::DN && order == TileOrder::kDn) ||
           (layout == Layout::NZ && order == TileOrder::kNz);
  }
  /// A matrix that a load into L1 cuts into boxes.
  bool Boxes() const {
    return (layout == Layout::ND && order == TileOrder::kNz) ||
           (layout == Layout::DN && order == TileOrder::kZn);
  }
  bool SingleLine() const { return tile.rows == 1 || tile.cols == 1; }
};

NPU_ONE_BODY(std::string NameOf(Layout layout)) {
  constexpr const char* kNames[] = {"ND", "DN", "NZ"};
  return kNames[static_cast<int>(layout)];
}

NPU_ONE_BODY(std::string NameOf(TileOrder order)) {
  constexpr const char* kNames[] = {"ND", "DN", "NZ", "ZN", "ZZ", "NN"};
  return kNames[static_cast<int>(order)];
}

NPU_ONE_BODY(NPU_RAISES void RaiseRange(const char* op, const char* what, int64_t low, int64_t high,
                                        int64_t got)) {
  npu::RaiseFault(
      op, std::string(what) + " from " + std::to_string(low) + " to " + std::to_string(high),
      std::to_string(got));
}

inline void CheckRange(const char* op, const char* what, int64_t low, int64_t high, int64_t got) {
  if (__builtin_expect(got < low || got > high, 0)) RaiseRange(op, what, low, high, got);
}

/// Faults unless the chip has a path between a tile of this order and a global tensor of this
/// layout.
NPU_ONE_BODY(void CheckLayouts(const TransferFacts& facts, bool boxes_allowed)) {
  const bool allowed =
      facts.SameLayout() || (facts.Boxes() && boxes_allowed) ||
      (facts.SingleLine() && facts.layout != Layout::NZ && facts.order <= TileOrder::kDn);
  const bool wide = facts.element_bytes == 8 && facts.layout == Layout::NZ;
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
  const int64_t* shape = facts.shape;
  CheckRange(facts.op, "product of shape[0], [1] and [2] of a matrix that is cut into boxes", 0, 1,
             shape[0] * shape[1] * shape[2]);
  CheckRange(facts.op, rows_first ? "rows" : "columns", 0, 16384, shape[rows_first ? 3 : 4]);
  CheckRange(facts.op, rows_first ? "columns" : "rows", 0, 65535, shape[rows_first ? 4 : 3]);
  CheckRange(facts.op, rows_first ? "stride[3]" : "stride[4]", 0, 65535, facts.line_stride);
}

/// Faults where a transfer of bursts does not fit into the fields of its instruction. whole_blocks:
/// those of a Mat tile are counted in blocks of 32 bytes.
NPU_ONE_BODY(void CheckBursts(const TransferFacts& facts, bool whole_blocks)) {
  constexpr int kBurstDim[] = {3, 4, 1};  // by TileOrder: the dimension that counts bursts
  constexpr const char* kNames[] = {"shape[3]", "shape[4]", "shape[1]"};
  const auto order = static_cast<int>(facts.order);
  if (facts.order <= TileOrder::kNz) {
    CheckRange(facts.op, kNames[order], 0, 4095, facts.shape[kBurstDim[order]]);
  }
  if (facts.tile.loc == TileType::Vec && facts.order == TileOrder::kNd) {
    CheckRange(facts.op, "rows of a Vec tile", 1, 4095, facts.tile.rows);
  }
  if (facts.layout == Layout::NZ) {
    const int64_t bytes = facts.shape[4] * static_cast<int64_t>(facts.element_bytes);
    CheckRange(facts.op, "shape[3] of layout NZ", 16, 16, facts.shape[3]);
    CheckRange(facts.op, "bytes in shape[4] of layout NZ", 32, 32, bytes);
  } else if (facts.tile.loc == TileType::Mat && whole_blocks) {
    const int64_t line = facts.shape[facts.layout == Layout::ND ? 4 : 3];
    if (line * static_cast<int64_t>(facts.element_bytes) % 32 != 0) {
      npu::RaiseFault(
          facts.op, "lines of a multiple of 32 bytes, between L1 and global memory",
          std::to_string(line) + " elements of " + std::to_string(facts.element_bytes) + " bytes");
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

/// Faults unless the shape of the global tensor is the valid region of the tile.
inline void CheckGlobalShape(const TransferFacts& facts) {
  const bool same = facts.rows == facts.tile.valid_rows && facts.cols == facts.tile.valid_cols;
  if (__builtin_expect(same, 1)) return;
  RaiseGlobalShape(facts.op, facts.tile.valid_rows, facts.tile.valid_cols, facts.rows, facts.cols);
}

/// The transfer of a tile: pieces that are contiguous in the tile and evenly spaced in global
/// memory.
template <class TileT, class Global>
struct Transfer {
  using T = typename TileT::DType;
  using GlobalT = typename Global::RawDType;
  using G = GlobalOrder<Global>;
  using Tiles = Order<TileT>;
  static constexpr bool kSameDirection = Tiles::kLinesAreRows == G::kLinesAreRows;

  static_assert(Global::layout == Layout::ND || Global::layout == Layout::DN ||
                    Global::layout == Layout::NZ,
                "expected a global tensor of layout ND, DN or NZ");

  static constexpr size_t kLinesAhead = 8;

  /// Brings the first bytes of a line near. Lines are short and far apart: the processor does not
  /// foresee the next ones (a product of 512 x 2048 x 1536 takes 1.25 times as long without).
  static void Prefetch(const GlobalT* line, size_t length) {
    constexpr size_t kCacheLine = 64, kMost = 256;  // bytes
    const size_t bytes = std::min(length * sizeof(GlobalT), kMost);
    for (size_t at = 0; at < bytes; at += kCacheLine) {
      __builtin_prefetch(reinterpret_cast<const char*>(line) + at);
    }
  }

  /// Calls copy(line, at, tile run, global run, distance of neighbours in the global run, elements)
  /// for each piece; line and at are those of the tile.
  template <class Copy>
  static void ForEachPiece(const TileT& tile, const Global& global, const Copy& copy) {
    const auto lines = LinesOf(tile);
    const G order(global);
    auto* base = const_cast<GlobalT*>(global.data());
    for (size_t line = 0; line < lines.count; ++line) {
      if constexpr (kSameDirection) {
        auto* start = base + order.LineStart(static_cast<int64_t>(line));
        if (line + kLinesAhead < lines.count) {
          Prefetch(base + order.LineStart(static_cast<int64_t>(line + kLinesAhead)), lines.length);
        }
        for (size_t at = 0; at < lines.length;) {
          size_t count = std::min(lines.length - at, Tiles::kRun - at % Tiles::kRun);
          if constexpr (G::kBoxed) count = std::min(count, order.Run() - at % order.Run());
          copy(line, at, lines(line, at), start + order.InLine(static_cast<int64_t>(at)),
               order.Step(), count);
          at += count;
        }
      } else {
        for (size_t at = 0; at < lines.length; ++at) {
          const int64_t offset =
              order.LineStart(static_cast<int64_t>(at)) + order.InLine(static_cast<int64_t>(line));
          copy(line, at, lines(line, at), base + offset, int64_t{1}, size_t{1});
        }
      }
    }
  }

  static npu::Access GlobalAccess(const TileT& tile, const Global& global, bool is_write) {
    const auto lines = LinesOf(tile);
    const G order(global);
    const auto pitch = static_cast<size_t>(order.LineStart(lines.count > 1));
    return {npu::Space::kGm,
            is_write,
            global.data(),
            lines.count,
            lines.length * sizeof(GlobalT),
            pitch * sizeof(GlobalT)};
  }
};

/// Copies one piece. The run of a box has a length that the compiler knows.
template <size_t kWholeRun, class To, class From>
inline void CopyRun(To* to, int64_t to_step, const From* from, int64_t from_step, size_t length) {
  static_assert(sizeof(To) == sizeof(From), "expected elements of one size");
  if (to_step == 1 && from_step == 1) {
    if (length == kWholeRun && kWholeRun * sizeof(To) <= 64) {
      std::memcpy(static_cast<void*>(to), from, kWholeRun * sizeof(To));
    } else {
      std::memcpy(static_cast<void*>(to), from, length * sizeof(To));
    }
  } else {
    for (size_t i = 0; i < length; ++i) {
      std::memcpy(static_cast<void*>(to + static_cast<int64_t>(i) * to_step),
                  from + static_cast<int64_t>(i) * from_step, sizeof(To));
    }
  }
}

}  // namespace pto::detail
