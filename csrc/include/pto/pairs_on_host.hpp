// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "pto/check.hpp"
#include "pto/global_range.hpp"
#include "pto/pieces.hpp"
#include "pto/transfer.hpp"
#include "pto/view_on_host.hpp"

/// Transfers of elements of 4 bits whose lines begin within a byte of global memory, which no chip
/// has, in kernels that host code calls.
namespace pto::detail {

/// A global tensor as if each of its elements had a byte of its own, in the order of kLayout.
template <Layout kLayout, class Global>
GlobalFacts AsBytes(const Global& global) {
  using Any = GlobalTensor<char, Shape<-1, -1, -1, -1, -1>, Stride<-1, -1, -1, -1, -1>, kLayout>;
  const auto extent = [&](int d) { return global.GetShape(d); };
  const auto step = [&](int d) { return global.GetStride(d); };
  auto* data = const_cast<typename Global::RawDType*>(global.data());
  return GlobalFacts(Any(reinterpret_cast<char*>(data),
                         {extent(0), extent(1), extent(2), extent(3), extent(4)},
                         {step(0), step(1), step(2), step(3), step(4)}));
}

/// The same in the order of the tile where it has the shape of rows x cols so alone.
template <class TileT, class Global>
GlobalFacts BytesOnHost(const Global& global, int64_t rows, int64_t cols) {
  const GlobalFacts said = AsBytes<Global::layout>(global);
  const GlobalFacts turned = AsBytes<TileT::isRowMajor ? Layout::ND : Layout::DN>(global);
  const auto has_shape = [&](const GlobalFacts& facts) {
    return facts.Rows() == rows && facts.Cols() == cols;
  };
  return !has_shape(said) && has_shape(turned) && !TileT::isBoxedLayout ? turned : said;
}

/// The bytes that it takes.
inline GlobalTensor<char, Shape<>, Stride<>> SpanOfPairs(const GlobalFacts& elements) {
  int64_t low = 0, high = 0;
  for (int d = 0; d < kGlobalDims; ++d) {
    const int64_t span = (std::max<int64_t>(elements.shape[d], 1) - 1) * elements.stride[d];
    (span < 0 ? low : high) += span;
  }
  const int64_t first = (low - 1) / 2, bytes = elements.Empty() ? 0 : high / 2 - first + 1;
  return GlobalTensor<char, Shape<>, Stride<>>(elements.data + first, {1, 1, 1, 1, bytes},
                                               {bytes, bytes, bytes, bytes, 1});
}

/// Whether lines of global begin within a byte, and host code calls the kernel.
template <class TileT, class Global>
bool MovesPairsOnHost(const char* op, const TileT& tile, const Global& global) {
  return ViewOnHost(tile, global).odd_stride != 0 && npu::TakesHostForms(npu::RunningCore(op));
}

/// One element between tile and global memory.
template <bool kStores, class TileT>
void MovePair(const TileT& tile, const GlobalFacts& elements, int64_t row, int64_t col) {
  const bool by_rows = elements.LinesAreRows();
  const int64_t at = elements.LineStart(by_rows ? row : col) + elements.InLine(by_rows ? col : row);
  auto* pair = reinterpret_cast<uint8_t*>(elements.data) + (at >> 1);
  const auto shift = static_cast<unsigned>(at & 1) * 4;
  const auto r = static_cast<size_t>(row), c = static_cast<size_t>(col);
  if constexpr (kStores) {
    const unsigned code = ReadElement(tile, r, c).pair & 0xfu;
    *pair = static_cast<uint8_t>((*pair & ~(0xfu << shift)) | code << shift);
  } else {
    WriteElement(tile, r, c, {static_cast<uint8_t>(*pair >> shift & 0xfu)});
  }
}

/// tile = global, or where kStores the other way, over the valid region.
template <bool kStores, class TileT, class Global>
void MovePairsOnHost(const char* op, const void* call_site, TileT& tile, Global& global) {
  const int64_t rows = std::clamp(tile.GetValidRow(), 0, TileT::Rows);
  const int64_t cols = std::clamp(tile.GetValidCol(), 0, TileT::Cols);
  const GlobalFacts elements = BytesOnHost<TileT>(global, rows, cols);
  const auto span = SpanOfPairs(elements);
  const auto bytes = static_cast<size_t>(span.GetShape(4));
  const npu::Access memory = {npu::Space::kGm, kStores, span.data(), 1, bytes, bytes};
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(rows * cols), bytes, 0},
           AccessOf(TileFacts(tile), !kStores), memory);
  };
  npu::Issue(op, kStores ? npu::Pipe::kMte3 : npu::Pipe::kMte2, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckTile(core, op, "the tile", tile);
    if (rows != elements.Rows() || cols != elements.Cols())
      RaiseGlobalShape(op, rows, cols, elements.Rows(), elements.Cols());
    CheckGlobalMemory(core, op, GlobalFacts(span));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t col = 0; col < cols; ++col) MovePair<kStores>(tile, elements, row, col);
    }
  });
}

/// The other half of the last byte of each line takes the pad value.
template <class TileT>
void PadPairs(const TileT& tile, const typename TileT::DType& pad) {
  constexpr bool kByRows = kPairsInRows<TileT>;
  const int lines = kByRows ? std::min(tile.GetValidRow(), TileT::Rows)
                            : std::min(tile.GetValidCol(), TileT::Cols);
  const int length = kByRows ? tile.GetValidCol() : tile.GetValidRow();
  if (length <= 0 || length % 2 == 0 || length >= (kByRows ? TileT::Cols : TileT::Rows)) return;
  for (int line = 0; line < lines; ++line) {
    WriteElement(tile, static_cast<size_t>(kByRows ? line : length),
                 static_cast<size_t>(kByRows ? length : line), pad);
  }
}

}  // namespace pto::detail
