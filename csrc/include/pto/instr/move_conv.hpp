// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/conv_tile.hpp"
#include "pto/copy_tile.hpp"

/// Filters of convolutions on their way into products.
namespace pto::detail {

/// A filter [places][columns][C0] as a matrix of places * C0 rows.
struct FilterMatrix {
  const ConvFacts& conv;
  int64_t places, cols, c0;

  explicit FilterMatrix(const ConvFacts& filter) : conv(filter) {
    // [C1HW, N1, N0, C0], or [C1, H, W, N, C0]
    const bool four = filter.Dims() == 4;
    places = four ? filter.Shape(0) : filter.Shape(0) * filter.Shape(1) * filter.Shape(2);
    cols = four ? filter.Shape(1) * filter.Shape(2) : filter.Shape(3);
    c0 = filter.Shape(filter.Dims() - 1);
  }
};

/// cols columns of `places` places of C0 rows, from row and col of the filter on, for observers.
NPU_ONE_BODY(npu::AccessList FilterAccess(const FilterMatrix& filter, int row, size_t places,
                                          int col, size_t cols)) {
  constexpr auto kBlock = static_cast<int64_t>(npu::kTileAlignment);
  const auto bytes = static_cast<int64_t>(filter.conv.ElementBytes());
  npu::AccessList list;
  for (size_t i = 0; i < places; ++i) {
    const int64_t place = row * bytes / kBlock + static_cast<int64_t>(i);
    list.AddBytes(npu::Space::kL1, false, filter.conv.Data() + (place * filter.cols + col) * kBlock,
                  cols * kBlock);
  }
  return list;
}

/// rows x cols elements of dst, whole boxes, from row and col of the filter on.
NPU_ONE_BODY(void CopyFilter(const char* op, const TileFacts& dst, const FilterMatrix& filter,
                             int64_t row, int64_t col)) {
  const npu::Core& core = *npu::current_core;
  const auto bytes = static_cast<int64_t>(dst.kind->element_bytes);
  const auto c0 = static_cast<int64_t>(npu::kTileAlignment) / bytes;
  CheckTile(core, op, "dst", dst);
  CheckTile(core, op, "src", filter.conv.Tile());
  const LineOrder order = dst.Order();
  const auto cols = static_cast<int64_t>((dst.Lines() + 15) / 16 * 16);
  const auto rows = (static_cast<int64_t>(dst.Length()) + c0 - 1) / c0 * c0;
  CheckOrigin(core, op, static_cast<int>(row), static_cast<int>(c0), static_cast<int>(col), 16);
  const bool inside = filter.c0 == c0 && filter.cols % 16 == 0 && row % c0 == 0 &&
                      row + rows <= filter.places * c0 && col + cols <= filter.cols;
  if (!inside) {
    npu::RaiseFault(op,
                    TileFacts::Extent(rows, cols) + " elements of the " + dst.Describe() +
                        " within a filter of " +
                        TileFacts::Extent(filter.places * c0, filter.cols) +
                        ", whose C0 has 32 bytes and whose N is a multiple of 16",
                    "row " + npu::TextOf(row) + ", column " + npu::TextOf(col) + " of " +
                        filter.conv.Extents());
  }
  const std::byte* source = filter.conv.Data();
  for (int64_t k = 0; k < rows; k += c0) {
    for (int64_t n = 0; n < cols; ++n) {
      const int64_t from = ((row + k) / c0 * filter.cols + col + n) * c0 * bytes;
      const size_t to = order.Offset(static_cast<size_t>(n), static_cast<size_t>(k));
      std::memcpy(dst.data + to * dst.kind->element_bytes, source + from, npu::kTileAlignment);
    }
  }
}

/// ConvTile of kind Mat to Right, over the valid region of dst in whole boxes.
template <class Dst, class Conv>
inline void MoveFilter(const char* op, const void* call_site, Dst& dst, Conv& src, int row,
                       int col) {
  using T = typename Dst::DType;
  static_assert(Conv::Loc == TileType::Mat && Dst::Loc == TileType::Right && Dst::isInnerColMajor &&
                    Dst::isRowMajor,
                "expected a Right tile from a ConvTile of kind Mat");
  static_assert(Conv::layout == Layout::FRACTAL_Z || Conv::layout == Layout::FRACTAL_Z_3D,
                "expected a ConvTile of layout FRACTAL_Z or FRACTAL_Z_3D");
  static_assert(std::is_same_v<T, typename Conv::DType>, "expected tiles of one element type");
  const ConvFacts conv(src);
  const auto operands = [&](auto report) {
    const TileFacts to(dst);
    constexpr size_t kC0 = npu::kTileAlignment / sizeof(T);
    const LinePart boxes = {0, 0, (to.Lines() + 15) / 16 * 16, (to.Length() + kC0 - 1) / kC0 * kC0};
    report(npu::Work{to.Lines() * to.Length(), 0, 0}, AccessOf(to, boxes, true),
           FilterAccess(FilterMatrix(conv), row, boxes.length / kC0, col, boxes.lines));
  };
  npu::Issue(op, npu::Pipe::kMte1, call_site, operands, [&] {
    CheckType<T>(*npu::current_core, op, {kLeftRightTypes, kLeftRightTypes}, kAny8To32);
    CopyFilter(op, TileFacts(dst), FilterMatrix(conv), row, col);
  });
}

}  // namespace pto::detail
