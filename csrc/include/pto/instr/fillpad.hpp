// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "pto/check.hpp"
#include "pto/copy_tile.hpp"
#include "pto/layout.hpp"
#include "pto/pad.hpp"

namespace pto {

enum class TFillPadMode : uint8_t { Normal, InPlace, Expand };

namespace detail {

/// Rows of dst that a fill writes, all columns of each.
template <class Dst, class Src>
inline size_t FilledRows(const Dst& dst, const Src& src) {
  constexpr auto kRows = static_cast<size_t>(kTileKind<Dst>.rows);
  const auto lines = LinesOf(dst);
  if (lines.count == 0) return 0;
  if (Dst::Loc != TileType::Vec) return kRows;
  const size_t valid = Order<Dst>::kLinesAreRows ? lines.count : lines.length;
  return std::max(std::min(ValidExtent(src).rows, kRows), valid);
}

/// dst = src over the valid region of src, pad in the other columns of dst and in all columns of
/// the rows behind, of a Vec tile up to its last valid row.
template <class Dst, class Src, class T>
void CopyAndPad(const Dst& dst, const Src& src, T pad) {
  constexpr auto kRows = static_cast<size_t>(kTileKind<Dst>.rows);
  constexpr auto kCols = static_cast<size_t>(kTileKind<Dst>.cols);
  const size_t end = FilledRows(dst, src);
  const Extent kept_part = ValidExtent(src);
  const size_t rows = std::min(kept_part.rows, kRows), cols = std::min(kept_part.cols, kCols);
  for (size_t row = 0; row < end; ++row) {
    const size_t kept = row < rows ? cols : 0;
    for (size_t col = 0; col < kept; ++col) {
      T* to = ElementOf(dst, row, col);
      const T* from = ElementOf(src, row, col);
      if (to != from) *to = *from;
    }
    for (size_t col = kept; col < kCols; ++col) *ElementOf(dst, row, col) = pad;
  }
}

template <class Dst, class Src>
[[gnu::noinline]] void FillPad(Dst& dst, Src& src, PadValue pad, bool same_extent) {
  using T = typename Dst::DType;
  static_assert(std::is_same_v<T, typename Src::DType>,
                "TFILLPAD: expected tiles of one element type");
  static_assert(sizeof(T) <= 4, "TFILLPAD: expected elements of 8, 16 or 32 bits");
  static_assert(Src::isBoxedLayout == Dst::isBoxedLayout && Src::isRowMajor == Dst::isRowMajor,
                "TFILLPAD: expected tiles of one layout");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const size_t rows = FilledRows(dst, src);
    const auto [kept_rows, kept_cols] = ValidExtent(src);
    const Region kept = {0, 0, std::min(kept_rows, rows),
                         std::min(kept_cols, static_cast<size_t>(kTileKind<Dst>.cols))};
    report(npu::Work{static_cast<uint64_t>(Dst::Numel), 0, 0},
           RegionAccess(dst, {0, 0, rows, static_cast<size_t>(kTileKind<Dst>.cols)}, true),
           RegionAccess(src, kept, false));
  };
  const npu::Pipe pipe = Dst::Loc == TileType::Mat ? npu::Pipe::kMte2 : npu::Pipe::kV;
  npu::Issue("TFILLPAD", pipe, call_site, operands, [&] {
    const npu::Core& core = *npu::current_core;
    CheckTile(core, "TFILLPAD", "dst", dst);
    CheckTile(core, "TFILLPAD", "src", src);
    const bool fits = same_extent ? Dst::Rows == Src::Rows && Dst::Cols == Src::Cols
                                  : Dst::Rows >= Src::Rows && Dst::Cols >= Src::Cols;
    if (!fits && core.check_limits) {
      npu::RaiseFault("TFILLPAD",
                      npu::Text("dst of ") + (same_extent ? "" : "at least ") +
                          TileFacts::Extent(Src::Rows, Src::Cols) + " (the extent of src)",
                      TileFacts::Extent(Dst::Rows, Dst::Cols));
    }
    CopyAndPad(dst, src, PadElement<T>(pad));
  });
}

/// What a fill of a Mat tile writes: rows below its valid region, in whole blocks of 32 bytes, and
/// the columns behind these.
struct MatPadding {
  Region below, behind;
};

template <class TileT>
inline MatPadding PaddingOfMat(const TileT& tile) {
  constexpr auto kRows = static_cast<size_t>(kTileKind<TileT>.rows);
  constexpr auto kCols = static_cast<size_t>(kTileKind<TileT>.cols);
  constexpr size_t kBlock = npu::kTileAlignment / sizeof(typename TileT::DType), kBoxRows = 16;
  constexpr bool kToBox = TileT::Compact == CompactMode::RowAlignedPadding;
  const Extent valid = ValidExtent(tile);
  const size_t cols = std::min((valid.cols + kBlock - 1) / kBlock * kBlock, kCols);
  const size_t rows = std::min(valid.rows, kRows);
  const size_t end = kToBox ? std::min((rows + kBoxRows - 1) / kBoxRows * kBoxRows, kRows) : kRows;
  return {{rows, 0, end - rows, cols}, {0, cols, kRows, kToBox ? 0 : kCols - cols}};
}

template <class TileT>
[[gnu::noinline]] void PadMat(TileT& tile, PadValue pad) {
  using T = typename TileT::DType;
  static_assert(sizeof(T) <= 4, "TFILLPAD: expected elements of 8, 16 or 32 bits");
  const void* call_site = __builtin_return_address(0);
  const auto operands = [&](auto report) {
    const MatPadding padding = PaddingOfMat(tile);
    report(npu::Work{static_cast<uint64_t>(TileT::Numel), 0, 0},
           RegionAccess(tile, padding.below, true), RegionAccess(tile, padding.behind, true));
  };
  npu::Issue("TFILLPAD", npu::Pipe::kMte2, call_site, operands, [&] {
    CheckTile(*npu::current_core, "TFILLPAD", "dst", tile);
    const MatPadding padding = PaddingOfMat(tile);
    const T value = PadElement<T>(pad);
    for (const Region& region : {padding.below, padding.behind}) {
      for (size_t row = region.row; row < region.row + region.rows; ++row) {
        for (size_t col = region.col; col < region.col + region.cols; ++col) {
          *ElementOf(tile, row, col) = value;
        }
      }
    }
  });
}

}  // namespace detail

/// dst = src over the valid region of src, the PadVal of dst in all columns to its right and in the
/// rows below it that dst has valid. Rows of dst behind those stay; nothing valid in dst: all of
/// it.
///   dst, src  Vec tiles of one dtype of 8, 16 or 32 bits; they may have the same address
///   kMode     Normal, InPlace: the same extent; Expand: dst may be larger
/// Pipe V. Source: PTO ISA, TFILLPAD.
template <TFillPadMode kMode = TFillPadMode::Normal, class Dst, class Src,
          std::enable_if_t<Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec, int> = 0,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TFILLPAD(Dst& dst, Src& src, Events&... events) {
  static_assert(Dst::PadVal != PadValue::Null, "TFILLPAD: expected a dst with a PadVal");
  (events.Wait(), ...);
  detail::FillPad(dst, src, Dst::PadVal, kMode != TFillPadMode::Expand);
  npu::KeepCallSite();
  return {};
}

/// Mat tile dst = kPad in the rows below its valid region, whose columns count in whole blocks of
/// 32 bytes, and in all rows of the columns behind those. Of CompactMode RowAlignedPadding: in the
/// rows up to the next 16 alone. src is not looked at: it is dst. Pipe MTE2.
template <class TileT, PadValue kPad = PadValue::Zero,
          std::enable_if_t<TileT::Loc == TileType::Mat, int> = 0, class... Events>
[[gnu::always_inline]] inline RecordEvent TFILLPAD(TileT& dst, TileT& src, Events&... events) {
  (events.Wait(), ...);
  if constexpr (detail::kForHost) {  // exactly what is not valid, from another tile, too
    detail::FillPad(dst, src, kPad, true);
  } else {
    static_cast<void>(src);
    detail::PadMat(dst, kPad);
  }
  npu::KeepCallSite();
  return {};
}

/// TFILLPAD of tiles with one address.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TFILLPAD_INPLACE(Dst& dst, Src& src, Events&... events) {
  return TFILLPAD<TFillPadMode::InPlace>(dst, src, events...);
}

/// TFILLPAD into a tile that may be larger.
template <class Dst, class Src, class... Events>
[[gnu::always_inline]] inline RecordEvent TFILLPAD_EXPAND(Dst& dst, Src& src, Events&... events) {
  return TFILLPAD<TFillPadMode::Expand>(dst, src, events...);
}

}  // namespace pto
