// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/copy_tile.hpp"
#include "pto/global_range.hpp"
#include "pto/index.hpp"

namespace pto {

namespace detail {

/// What becomes of an index behind the end of a table.
enum class Beyond : uint8_t { kUndefined, kClamp, kWrap, kLeftOut };

/// A global tensor whose rows, or elements, are named by index. In layout ND its elements follow
/// one another, and rows are stride[3] apart.
struct Table {
  GlobalFacts global;
  size_t rows, cols;
  size_t run;  // columns of a row that are contiguous

  template <class Global>
  explicit Table(const Global& tensor)
      : global(tensor),
        rows(Count(global.Rows())),
        cols(Count(global.Cols())),
        run(global.Boxed() ? Count(global.shape[4]) : cols) {
    static_assert(Global::layout != Layout::DN, "expected a table of layout ND or NZ");
  }

  char* Element(size_t row, size_t col) const {
    const auto line = static_cast<int64_t>(row), at = static_cast<int64_t>(col);
    return At(global.Boxed() ? global.LineStart(line) + global.InLine(at)
                             : line * global.stride[3] + at);
  }
  char* Element(size_t index) const {
    if (global.Boxed()) return Element(index / cols, index % cols);
    return At(static_cast<int64_t>(index));
  }

 private:
  static size_t Count(int64_t number) { return number < 0 ? 0 : static_cast<size_t>(number); }
  char* At(int64_t offset) const {
    return global.data + offset * static_cast<int64_t>(global.element_bytes);
  }
};

/// Faults where the bytes from begin on are not in the allocation that table starts in.
inline void CheckInMemory(npu::Core& core, const char* op, const char* table, const char* begin,
                          size_t bytes) {
  if (!core.check_limits) return;
  for (const npu::GlobalMemory& memory : core.memories) {
    if (Holds(memory, begin, begin + bytes) && Holds(memory, table, table)) return;
  }
  FindMemory(core, op, table, begin, begin + bytes);
}

NPU_ONE_BODY(NPU_RAISES void RaiseEmpty(const char* op)) {
  npu::RaiseFault(op, "a table of at least one element", "an empty one");
}

/// Where index leads, of count places; count where it is left out.
inline size_t PlaceOf(Beyond beyond, uint32_t index, size_t count) {
  switch (beyond) {
    case Beyond::kClamp:
      return std::min<size_t>(index, count - 1);
    case Beyond::kWrap:
      return index % count;
    case Beyond::kLeftOut:
      return std::min<size_t>(index, count);
    default:
      return index;
  }
}

/// True where PlaceOf says that nothing is moved.
inline bool IsLeftOut(Beyond beyond, size_t place, size_t count) {
  return beyond == Beyond::kLeftOut && place == count;
}

inline constexpr TypeRule kTableTypes = {kAny8To32, kAny8To32 | kE4m3 | kE5m2 | kHif8};

/// Faults unless tile and the tile of its indexes are what an access to table takes.
template <class TileT, class Idx>
inline void CheckIndexed(const npu::Core& core, const char* op, const char* operand,
                         const TileT& tile, const Table& table, const Idx& idx, bool by_rows) {
  using T = typename TileT::DType;
  static_assert(TileT::Loc == TileType::Vec && Idx::Loc == TileType::Vec && !Idx::isBoxedLayout &&
                    (Idx::isRowMajor || Idx::Cols == 1),
                "expected Vec tiles, the indexes RowMajor or one column");
  static_assert(std::is_integral_v<typename Idx::DType> && sizeof(typename Idx::DType) == 4,
                "expected indexes of int32 or uint32");
  CheckType<T>(core, op, kTableTypes);
  CheckTile(core, op, operand, tile);
  CheckTile(core, op, "indexes", idx);
  if (table.rows == 0 || table.cols == 0) RaiseEmpty(op);
  const auto rows = static_cast<size_t>(std::max(tile.GetValidRow(), 0));
  const auto cols = static_cast<size_t>(std::max(tile.GetValidCol(), 0));
  if (by_rows) {
    const bool lies = idx.GetValidRow() == 1;
    CheckCovers(op, "indexes", TileFacts(idx), lies ? 1 : rows, lies ? rows : 1);
    CheckCovers(op, operand, TileFacts(tile), rows, table.global.Boxed() ? table.cols : cols);
  } else {
    CheckCovers(op, "indexes", TileFacts(idx), rows, cols);
  }
}

/// Index of row: a row of indexes, or a column on A5.
template <class Idx>
inline uint32_t RowIndex(const Idx& idx, size_t row) {
  const bool lies = idx.GetValidRow() == 1;
  return static_cast<uint32_t>(*ElementOf(idx, lies ? 0 : row, lies ? row : 0));
}

/// Columns of a row that are moved at a time: all of a table of layout NZ, else those of the tile.
template <class TileT>
inline size_t MovedCols(const TileT& tile, const Table& table) {
  const auto valid = static_cast<size_t>(std::clamp(tile.GetValidCol(), 0, TileT::Cols));
  return table.global.Boxed() ? table.cols : valid;
}

/// Calls move(element of the tile, of the table, count) for the pieces of a row that are contiguous
/// in both.
template <class TileT, class Move>
inline void ForEachRowPiece(const TileT& tile, const Table& table, size_t row, size_t place,
                            const Move& move) {
  const size_t cols = MovedCols(tile, table);
  const size_t run = std::min(Order<TileT>::kRun, table.global.Boxed() ? table.run : cols);
  for (size_t col = 0; col < cols; col += run) {
    const size_t count = std::min(run, cols - col);
    move(ElementOf(tile, row, col), table.Element(place, col), count);
  }
}

/// Calls body(row, col) for each element of the valid region in the order in which the chip takes
/// them: rows, of boxes column by column of boxes.
template <class TileT, class Body>
inline void ForEachElement(const TileT& tile, const Body& body) {
  const auto rows = static_cast<size_t>(std::clamp(tile.GetValidRow(), 0, TileT::Rows));
  const auto cols = static_cast<size_t>(std::clamp(tile.GetValidCol(), 0, TileT::Cols));
  const size_t run = TileT::isBoxedLayout ? Order<TileT>::kRun : std::max<size_t>(cols, 1);
  for (size_t first = 0; first < cols; first += run) {
    for (size_t row = 0; row < rows; ++row) {
      for (size_t col = first; col < std::min(first + run, cols); ++col) body(row, col);
    }
  }
}

/// Where the indexes of tile lead in table, piece by piece, for observers. As those are looked at,
/// the operands must have passed CheckIndexed.
template <class TileT, class Idx>
inline npu::AccessList PlacesInTable(const TileT& tile, const Table& table, const Idx& idx,
                                     bool by_rows, Beyond beyond, bool is_write) {
  npu::AccessList list;
  const size_t rows = ValidExtent(tile).rows, bytes = table.global.element_bytes;
  for (size_t row = 0; by_rows && row < rows; ++row) {
    const size_t place = PlaceOf(beyond, RowIndex(idx, row), table.rows);
    if (IsLeftOut(beyond, place, table.rows)) continue;
    ForEachRowPiece(tile, table, row, place, [&](const void*, const char* there, size_t count) {
      list.AddBytes(npu::Space::kGm, is_write, there, count * bytes);
    });
  }
  if (by_rows) return list;
  const size_t count = table.rows * table.cols;
  ForEachElement(tile, [&](size_t row, size_t col) {
    const size_t place = PlaceOf(beyond, static_cast<uint32_t>(*ElementOf(idx, row, col)), count);
    if (IsLeftOut(beyond, place, count)) return;
    list.AddBytes(npu::Space::kGm, is_write, table.Element(place), bytes);
  });
  return list;
}

/// The indexes that are looked at.
template <class TileT, class Idx>
inline npu::AccessList ReadsIndexes(const TileT& tile, const Idx& idx, bool by_rows) {
  const Extent valid = ValidExtent(tile);
  if (!by_rows) return RegionAccess(idx, {0, 0, valid.rows, valid.cols}, false);
  const bool lies = idx.GetValidRow() == 1;
  return RegionAccess(idx, {0, 0, lies ? 1 : valid.rows, lies ? valid.rows : 1}, false);
}

/// The elements of tile that go to or from table.
template <class TileT>
inline npu::AccessList MovedPart(const TileT& tile, const Table& table, bool by_rows,
                                 bool is_write) {
  const Extent valid = ValidExtent(tile);
  const size_t cols = by_rows ? MovedCols(tile, table) : valid.cols;
  return RegionAccess(tile, {0, 0, valid.rows, cols}, is_write);
}

/// Faults at compile time unless tile and table pair: ND with RowMajor, NZ with boxes.
template <class TileT, class Global>
constexpr void CheckPairing() {
  using T = typename TileT::DType;
  constexpr bool kPlain = TileT::isRowMajor && !TileT::isBoxedLayout;
  constexpr bool kBoxes = !TileT::isRowMajor && TileT::isInnerRowMajor;
  static_assert(
      (Global::layout == Layout::ND && kPlain) || (Global::layout == Layout::NZ && kBoxes),
      "expected a table of layout ND and a RowMajor tile, or both of layout NZ");
  static_assert(std::is_same_v<typename Global::RawDType, T>,
                "expected a table and a tile of one element type");
}

}  // namespace detail

}  // namespace pto
