// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/global_range.hpp"
#include "pto/layout.hpp"

/// TLOAD of the scales of products into L1.
namespace pto::detail {

/// Where a scale lies in global memory: lines (rows of MX_A, columns of MX_B) and depth.
struct ScaleOrder {
  bool boxed;  // MX_A_ZZ, MX_B_NN
  bool lines_first;
  int64_t lines, depth;
  int64_t stride[kGlobalDims], shape[kGlobalDims];

  template <class Global>
  explicit ScaleOrder(const Global& global) {
    constexpr Layout kLayout = Global::layout;
    for (int d = 0; d < kGlobalDims; ++d) {
      shape[d] = global.GetShape(d);
      stride[d] = global.GetStride(d);
    }
    boxed = kLayout == Layout::MX_A_ZZ || kLayout == Layout::MX_B_NN;
    lines_first = boxed || kLayout == Layout::MX_A_ND || kLayout == Layout::MX_B_DN;
    if (boxed) {
      lines = shape[0] * shape[1] * shape[3];
      depth = shape[2] * shape[4];
    } else {
      lines = shape[lines_first ? 2 : 3];
      depth = shape[lines_first ? 3 : 2] * shape[4];
    }
  }

  int64_t Offset(int64_t line, int64_t at) const {
    const int64_t pair = at / 2, last = at % 2 * stride[4];
    if (!boxed) {
      return line * stride[lines_first ? 2 : 3] + pair * stride[lines_first ? 3 : 2] + last;
    }
    const int64_t box = line / shape[3];
    return box / shape[1] * stride[0] + box % shape[1] * stride[1] + pair * stride[2] +
           line % shape[3] * stride[3] + last;
  }

  /// What is read of data, for observers.
  npu::AccessList Read(const char* data, int64_t count, int64_t length) const {
    constexpr int64_t kMost = 16 * npu::kKiB * npu::kKiB;  // more than any space has
    npu::AccessList list;
    if (count > kMost || length > kMost || count * length > kMost) return list;  // a fault says so
    for (int64_t line = 0; line < count; ++line) {
      const bool is_one = length > 0 && Offset(line, length - 1) - Offset(line, 0) == length - 1;
      if (is_one) {
        list.AddLine(npu::Space::kGm, false, data + Offset(line, 0), static_cast<size_t>(length));
      }
      for (int64_t at = 0; !is_one && at < length; ++at) {
        list.AddBytes(npu::Space::kGm, false, data + Offset(line, at), 1);
      }
    }
    return list;
  }
};

/// The part of a tile that lines of scales go to, valid or not, for observers.
NPU_ONE_BODY(npu::AccessList WrittenScales(TileFacts tile, int64_t lines, int64_t depth)) {
  const bool by_rows = tile.kind->lines.lines_are_rows;
  tile.valid_rows = static_cast<int>(by_rows ? lines : depth);
  tile.valid_cols = static_cast<int>(by_rows ? depth : lines);
  return AccessOf(tile, true);
}

NPU_ONE_BODY(void CheckScaleLoad(const TileFacts& tile, const ScaleOrder& order, int64_t lines,
                                 int64_t depth)) {
  const npu::Core& core = *npu::current_core;
  CheckTile(core, "TLOAD", "the tile", tile);
  if (core.arch->generation == npu::Generation::kA3 && core.check_limits) {
    npu::RaiseFault("TLOAD", "a chip with scaled products (A5), for layouts MX", core.arch->soc);
  }
  const bool by_rows = tile.kind->lines.lines_are_rows;
  const int64_t most = by_rows ? tile.kind->rows : tile.kind->cols;
  const int64_t deepest = by_rows ? tile.kind->cols : tile.kind->rows;
  const bool good = order.shape[4] == 2 && (!order.boxed || order.shape[3] == 16) &&
                    (order.boxed || (order.shape[0] == 1 && order.shape[1] == 1)) &&
                    lines <= most && depth <= deepest && lines <= order.lines &&
                    depth <= order.depth;
  if (good) return;
  npu::RaiseFault("TLOAD",
                  "scales in pairs, in boxes of 16x2 for ZZ and NN, that hold the valid region of "
                  "the tile of " +
                      TileFacts::Extent(tile.kind->rows, tile.kind->cols),
                  TileFacts::Extent(order.lines, order.depth) + " with a last dimension of " +
                      npu::TextOf(order.shape[4]));
}

template <class TileT, class Global>
[[gnu::noinline]] void LoadScales(TileT& tile, Global& global) {
  static_assert(TileT::Loc == TileType::Mat && TileT::SFractalSize == 32 && TileT::isBoxedLayout,
                "TLOAD: expected a Mat tile with boxes of 32 bytes for layouts MX");
  constexpr bool kIsA = Global::layout == Layout::MX_A_ZZ || Global::layout == Layout::MX_A_ND ||
                        Global::layout == Layout::MX_A_DN;
  static_assert(TileT::isRowMajor == kIsA && TileT::isInnerRowMajor == kIsA,
                "TLOAD: expected a tile of layout ZZ for MX_A, NN for MX_B");
  static_assert(sizeof(typename TileT::DType) == 1 && sizeof(typename Global::RawDType) == 1,
                "TLOAD: expected scales of 8 bits");
  const void* call_site = __builtin_return_address(0);
  const ScaleOrder order(global);
  const auto valid = LinesOf(tile);
  // Whole boxes move whatever the valid region.
  const int64_t lines = order.boxed ? order.lines : static_cast<int64_t>(valid.count);
  const int64_t depth = order.boxed ? order.depth : static_cast<int64_t>(valid.length);
  auto* data = reinterpret_cast<char*>(const_cast<typename Global::RawDType*>(global.data()));
  const int64_t bytes = lines <= 0 || depth <= 0 ? 0 : order.Offset(lines - 1, depth - 1) + 1;
  const GlobalTensor<char, Shape<>, Stride<>> span(data, {1, 1, 1, 1, bytes},
                                                   {bytes, bytes, bytes, bytes, 1});
  const auto operands = [&](auto report) {
    const auto moved = bytes == 0 ? 0 : static_cast<uint64_t>(lines * depth);
    report(npu::Work{moved, moved, 0}, WrittenScales(TileFacts(tile), lines, depth),
           order.Read(data, lines, depth));
  };
  npu::Issue("TLOAD", npu::Pipe::kMte2, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckScaleLoad(TileFacts(tile), order, lines, depth);
    if (core.check_limits) CheckGlobalMemory(core, "TLOAD", GlobalFacts(span));
    const Order<TileT> to(tile);
    auto* start = reinterpret_cast<char*>(tile.data());
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t at = 0; at < depth; ++at) {
        start[to.Offset(static_cast<size_t>(line), static_cast<size_t>(at))] =
            data[order.Offset(line, at)];
      }
    }
  });
}

constexpr bool IsScaleLayout(Layout layout) {
  return layout >= Layout::MX_A_ND && layout <= Layout::MX_B_NN;
}

}  // namespace pto::detail
