// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "npu/access_list.hpp"
#include "npu/text.hpp"
#include "pto/tile.hpp"

namespace pto {

/// Whether two elements share a byte.
template <class T>
constexpr bool IsTwinType() {
  return detail::kPacked<T> != 1;
}

/// Bytes of an object of T, which of elements of 4 bits holds two.
template <class T>
constexpr int GetTypeSize() {
  return static_cast<int>(sizeof(T));
}

}  // namespace pto

/// Tiles without their type: what checks, messages and copies look at is compiled once for all.
namespace pto::detail {

/// Order of a tile's elements.
enum class TileOrder : uint8_t { kNd, kDn, kNz, kZn, kZz, kNn };

NPU_ONE_BODY(const char* OrderName(TileOrder order)) {
  constexpr const char* kNames[] = {"ND", "DN", "NZ", "ZN", "ZZ", "NN"};
  return kNames[static_cast<int>(order)];
}

/// Order of the elements of a tile: lines (rows, or columns where those are contiguous) that
/// consist of runs of contiguous elements: one run in a tile without boxes, one per inner box else.
struct LineOrder {
  bool lines_are_rows;
  bool boxed;
  bool boxes_along_lines;  // Zz, Nn; else across the lines: Nz, Zn
  size_t lines;
  size_t length;     // elements of a line
  size_t run;        // elements of a run
  size_t box_lines;  // lines of a box

  /// That of a compact tile: the valid region, up to whole boxes, is its extent.
  constexpr LineOrder Compact(size_t valid_lines, size_t valid_length) const {
    LineOrder order = *this;
    order.lines = (valid_lines + box_lines - 1) / box_lines * box_lines;
    order.length = (valid_length + run - 1) / run * run;
    return order;
  }

  /// Distance of element at of a line from the start of the tile, in elements.
  constexpr size_t Offset(size_t line, size_t at) const {
    if (!boxed) return line * length + at;
    if (!boxes_along_lines) return at / run * (lines * run) + line * run + at % run;
    return line / box_lines * (box_lines * length) + at / run * (box_lines * run) +
           line % box_lines * run + at % run;
  }
  /// Distance of the runs of a line, in elements.
  constexpr size_t RunStep() const { return (boxes_along_lines ? box_lines : lines) * run; }
};

template <class TileT>
inline constexpr bool kLinesAreRows =
    TileT::isBoxedLayout ? TileT::isInnerRowMajor : TileT::isRowMajor;

template <class TileT>
constexpr LineOrder LineOrderOf() {
  constexpr bool by_rows = kLinesAreRows<TileT>;
  const size_t lines = by_rows ? TileT::Rows : TileT::Cols;
  const size_t length = (by_rows ? TileT::Cols : TileT::Rows) / kPacked<typename TileT::DType>;
  // A tile of one line, or of lines shorter than a box, has no more elements than its extent.
  const size_t box_length = by_rows ? TileT::InnerCols : TileT::InnerRows;
  const size_t box_lines = by_rows ? TileT::InnerRows : TileT::InnerCols;
  return {by_rows,
          TileT::isBoxedLayout,
          TileT::isRowMajor == by_rows,
          lines,
          length,
          TileT::isBoxedLayout && box_length < length ? box_length : length,
          box_lines < lines ? box_lines : lines};
}

template <class TileT>
constexpr TileOrder TileOrderOf() {
  if (!TileT::isBoxedLayout) return TileT::isRowMajor ? TileOrder::kNd : TileOrder::kDn;
  if (TileT::isRowMajor) return TileT::isInnerRowMajor ? TileOrder::kZz : TileOrder::kZn;
  return TileT::isInnerRowMajor ? TileOrder::kNz : TileOrder::kNn;
}

/// True if the elements of a tile lie as if its valid region, up to whole boxes, were its extent:
/// where it says so, and in operands that are larger than any chip's space, of which instructions
/// can only use the valid region. Source: PTO ISA, TEXTRACT, TIMG2COL.
template <class TileT>
constexpr bool IsCompact() {
  const bool is_operand = TileT::Loc == TileType::Left || TileT::Loc == TileType::Right;
  if (!TileT::isBoxedLayout || !(is_operand || TileT::Loc == TileType::Acc)) return false;
  const size_t bytes = static_cast<size_t>(TileT::Rows) * TileT::Cols *
                       sizeof(typename TileT::DType) / kPacked<typename TileT::DType>;
  return TileT::Compact == CompactMode::Normal ||
         (is_operand && bytes > npu::LargestCapacity(SpaceOf(TileT::Loc)));
}
template <class TileT>
inline constexpr bool kIsCompact = IsCompact<TileT>();

/// What the type of a tile tells.
struct TileKind {
  TileType loc;
  TileOrder order;
  const char* dtype;
  size_t element_bytes;
  int rows, cols;
  LineOrder lines;
  bool is_compact;
};

/// Rows and columns of a tile as they count in memory.
template <class TileT>
constexpr int StoredRows(int rows) {
  constexpr int kShare = kLinesAreRows<TileT> ? 1 : kPacked<typename TileT::DType>;
  return (rows + kShare - 1) / kShare;
}
template <class TileT>
constexpr int StoredCols(int cols) {
  constexpr int kShare = kLinesAreRows<TileT> ? kPacked<typename TileT::DType> : 1;
  return (cols + kShare - 1) / kShare;
}

template <class TileT>
inline constexpr TileKind kTileKind = {TileT::Loc,
                                       TileOrderOf<TileT>(),
                                       kTypeName<typename TileT::DType>,
                                       sizeof(typename TileT::DType),
                                       StoredRows<TileT>(TileT::Rows),
                                       StoredCols<TileT>(TileT::Cols),
                                       LineOrderOf<TileT>(),
                                       kIsCompact<TileT>};

struct TileFacts {
  const TileKind* kind;
  int valid_rows;
  int valid_cols;
  std::byte* data;

  template <class TileT>
  explicit TileFacts(const TileT& tile)
      : kind(&kTileKind<TileT>),
        valid_rows(StoredRows<TileT>(tile.GetValidRow())),
        valid_cols(StoredCols<TileT>(tile.GetValidCol())),
        data(reinterpret_cast<std::byte*>(
            const_cast<void*>(static_cast<const void*>(tile.data())))) {}

  /// All of a tile of this kind, which outlives it.
  TileFacts(const TileKind& whole, std::byte* start)
      : kind(&whole), valid_rows(whole.rows), valid_cols(whole.cols), data(start) {}

  bool ValidRegionFits() const {
    return valid_rows >= 0 && valid_cols >= 0 && valid_rows <= kind->rows &&
           valid_cols <= kind->cols;
  }

  /// The valid region, cut to the extent.
  size_t ValidRows() const { return Cut(true); }
  size_t ValidCols() const { return Cut(false); }

  /// Lines of the valid region and elements of each. A region outside the extent is a fault at
  /// level limits; with checks off it counts as empty or is cut.
  size_t Lines() const { return Length() == 0 ? 0 : Cut(kind->lines.lines_are_rows); }
  size_t Length() const { return Cut(!kind->lines.lines_are_rows); }

  /// Where the elements lie.
  LineOrder Order() const {
    const LineOrder& order = kind->lines;
    if (!kind->is_compact) return order;
    return order.Compact(Cut(order.lines_are_rows), Cut(!order.lines_are_rows));
  }
  /// From the first to behind the last element.
  size_t Bytes() const {
    const LineOrder order = Order();
    return order.lines * order.length * kind->element_bytes;
  }

  /// "Vec float tile of 16x64".
  NPU_ONE_BODY(npu::Text Describe() const) {
    return npu::Text(KindName(kind->loc)) + " " + kind->dtype + " tile of " +
           Extent(kind->rows, kind->cols);
  }

  NPU_ONE_BODY(static npu::Text Extent(int64_t rows, int64_t cols)) {
    return npu::TextOf(rows) + "x" + npu::TextOf(cols);
  }

 private:
  size_t Cut(bool rows) const {
    return static_cast<size_t>(
        std::clamp(rows ? valid_rows : valid_cols, 0, rows ? kind->rows : kind->cols));
  }
};

/// Where a tile of another core of the block lies, whose space begins at buffer: its address counts
/// from there, unless this core has the space itself.
template <class T>
inline T* AddressIn(std::byte* buffer, T* address) {
  if (npu::IsPlace(address)) return address;
  return reinterpret_cast<T*>(buffer + reinterpret_cast<uintptr_t>(address));
}

/// Lines of a tile from line on, of each the elements from at on.
struct LinePart {
  size_t line, at;
  size_t lines, length;
};

/// Where part of tile lies, as far as there is one.
NPU_ONE_BODY(npu::AccessList PlacesOf(const TileFacts& tile, const LinePart& part, bool is_write)) {
  npu::AccessList list;
  const LineOrder order = tile.Order();
  const size_t bytes = tile.kind->element_bytes;
  const auto add = [&](size_t line, size_t at, size_t lines, size_t length, size_t pitch) {
    list.AddRows({SpaceOf(tile.kind->loc), is_write, tile.data + order.Offset(line, at) * bytes,
                  lines, length * bytes, pitch * bytes});
  };
  const size_t end = std::min(part.line + part.lines, order.lines);
  const size_t end_at = std::min(part.at + part.length, order.length);
  if (part.line >= end || part.at >= end_at) return list;
  if (!order.boxed) {
    add(part.line, part.at, end - part.line, end_at - part.at, order.length);
    return list;
  }
  for (size_t line = part.line, lines = 0; line < end; line += lines) {
    // Lines that are neighbours in a run's width: of all boxes across the lines, else of one.
    lines = end - line;
    if (order.boxes_along_lines) lines = std::min(lines, order.box_lines - line % order.box_lines);
    for (size_t at = part.at, length = 0; at < end_at; at += length) {
      length = std::min(end_at - at, order.run - at % order.run);
      if (length == order.run) {
        list.AddBytes(SpaceOf(tile.kind->loc), is_write, tile.data + order.Offset(line, at) * bytes,
                      lines * length * bytes);
      } else {
        add(line, at, lines, length, order.run);
      }
    }
  }
  return list;
}

/// part of tile, as far as there is one, as what is touched, for observers.
NPU_ONE_BODY(npu::AccessList AccessOf(const TileFacts& tile, const LinePart& part, bool is_write)) {
  if (!tile.kind->is_compact) return PlacesOf(tile, part, is_write);
  const LineOrder order = tile.Order();
  const auto lines = static_cast<uint32_t>(order.lines);
  const auto length = static_cast<uint32_t>(order.length);
  return order.lines_are_rows ? PlacesOf(tile, part, is_write).InCompact(lines, length)
                              : PlacesOf(tile, part, is_write).InCompact(length, lines);
}

/// The valid region of tile as what is touched, for observers.
NPU_ONE_BODY(npu::AccessList AccessOf(const TileFacts& tile, bool is_write)) {
  return AccessOf(tile, {0, 0, tile.Lines(), tile.Length()}, is_write);
}

/// The same as an operand of an instruction, which is listed only if somebody listens.
struct ValidRegion {
  TileFacts tile;
  bool is_write;

  NPU_ONE_BODY(void AddTo(npu::AccessList& list) const) {
    list.AddOperand(AccessOf(tile, is_write));
  }
};

template <class TileT>
inline ValidRegion Writes(const TileT& tile) {
  return {TileFacts(tile), true};
}

template <class TileT>
inline ValidRegion Reads(const TileT& tile) {
  return {TileFacts(tile), false};
}

}  // namespace pto::detail
