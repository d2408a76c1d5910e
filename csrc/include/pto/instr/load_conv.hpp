// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/conv_tile.hpp"
#include "pto/global_range.hpp"
#include "pto/transfer.hpp"

/// TLOAD of images and filters of convolutions.
namespace pto::detail {

/// A load of a ConvTile: extents and distances in global memory, in elements, of each dimension of
/// the tile.
struct ConvTransfer {
  const ConvFacts& tile;
  Layout layout;
  char* data;
  int64_t outer;  // extent of the dimension that the tile lacks, or 1
  int64_t shape[kConvDims];
  int64_t stride[kConvDims];

  template <class Global>
  ConvTransfer(const ConvFacts& conv, const Global& global)
      : tile(conv),
        layout(Global::layout),
        data(reinterpret_cast<char*>(const_cast<typename Global::RawDType*>(global.data()))) {
    // Filters may lack the first dimension, and NDC1HWC0 has its C0 in no dimension of the tensor.
    const int skipped = conv.Dims() < kGlobalDims ? kGlobalDims - conv.Dims() : 0;
    outer = skipped > 0 ? global.GetShape(0) : 1;
    for (int d = 0; d < conv.Dims(); ++d) {
      const int from = d + skipped;
      shape[d] = from < kGlobalDims ? global.GetShape(from) : conv.Shape(d);
      stride[d] = from < kGlobalDims ? global.GetStride(from) : 1;
    }
    if (kForHost && skipped > 0 && outer > 1) TakeWhole(global);
  }

  /// A filter of [C1, H, W, N, C0] without gaps fills a tile of as many elements of fewer
  /// dimensions in programs for simulators.
  template <class Global>
  void TakeWhole(const Global& global) {
    int64_t count = 1;
    for (int d = kGlobalDims - 1; d >= 0; --d) {
      if (global.GetStride(d) != count) return;
      count *= global.GetShape(d);
    }
    const int last = tile.Dims() - 1;
    if (count != tile.Elements() || global.GetShape(kGlobalDims - 1) != tile.Shape(last)) return;
    outer = 1;
    int64_t step = 1;
    for (int d = last; d >= 0; --d) {
      shape[d] = tile.Shape(d);
      stride[d] = step;
      step *= shape[d];
    }
  }

  /// Bytes from the first to behind the last element, as one row.
  GlobalTensor<char, Shape<>, Stride<>> Span() const {
    int64_t low = 0, high = 1;
    for (int d = 0; d < tile.Dims(); ++d) {
      const int64_t span = (tile.Shape(d) - 1) * stride[d];
      (span < 0 ? low : high) += span;
    }
    const auto bytes = static_cast<int64_t>(tile.ElementBytes());
    const int64_t size = tile.Elements() == 0 ? 0 : (high - low) * bytes;
    return GlobalTensor<char, Shape<>, Stride<>>(data + low * bytes, {1, 1, 1, 1, size},
                                                 {size, size, size, size, 1});
  }
};

NPU_ONE_BODY(void CheckConvTransfer(const char* op, const ConvTransfer& load)) {
  npu::Core& core = *npu::current_core;
  const ConvFacts& tile = load.tile;
  CheckTile(core, op, "the tile", tile.Tile());
  if (!core.check_limits) return;
  npu::Text got;
  bool same = load.outer == 1;
  for (int d = 0; d < tile.Dims(); ++d) {
    same = same && load.shape[d] == tile.Shape(d);
    got += (d > 0 ? "x" : "") + npu::TextOf(load.shape[d]);
  }
  if (!same) {
    npu::RaiseFault(op,
                    "a global tensor of " + tile.Extents() + " elements (the shape of the tile)",
                    load.outer == 1 ? got : npu::TextOf(load.outer) + "x" + got);
  }
  const int last = tile.Dims() - 1;
  CheckRange(op, "bytes in the last dimension", C0_SIZE_BYTE, C0_SIZE_BYTE,
             tile.Shape(last) * static_cast<int64_t>(tile.ElementBytes()));
  CheckRange(op, "stride of the last dimension", 1, 1, load.stride[last]);
  CheckGlobalMemory(core, op, GlobalFacts(load.Span()));
}

/// Calls move(data of the tile, of global memory, bytes) run by run: the last dimension, and those
/// before it that lie behind each other.
template <class Move>
inline void ForEachConvRun(const ConvTransfer& load, const Move& move) {
  const ConvFacts& tile = load.tile;
  int last = tile.Dims() - 1;
  int64_t length = tile.Shape(last);
  for (; last > 0 && load.stride[last - 1] == length; --last) length *= tile.Shape(last - 1);
  const auto bytes = static_cast<int64_t>(tile.ElementBytes());
  const auto run = static_cast<size_t>(length * bytes);
  const int64_t runs = tile.Elements() == 0 ? 0 : tile.Elements() / length;
  std::byte* to = tile.Data();
  for (int64_t i = 0; i < runs; ++i, to += run) {
    int64_t rest = i, offset = 0;
    for (int d = last - 1; d >= 0; --d) {
      offset += rest % tile.Shape(d) * load.stride[d];
      rest /= tile.Shape(d);
    }
    move(to, load.data + offset * bytes, run);
  }
}

/// tile = global, or back.
NPU_ONE_BODY(void CopyConv(const ConvTransfer& load, bool stores)) {
  ForEachConvRun(load, [&](std::byte* tile, char* global, size_t bytes) {
    stores ? std::memcpy(global, tile, bytes) : std::memcpy(tile, global, bytes);
  });
}

/// What it touches of global memory, for observers.
NPU_ONE_BODY(npu::AccessList ConvAccess(const ConvTransfer& load, bool stores)) {
  constexpr int64_t kMost = 16 * npu::kKiB * npu::kKiB;  // elements: more than any space has
  npu::AccessList list;
  if (load.tile.Elements() > kMost) return list;  // a fault says so
  ForEachConvRun(load, [&](const std::byte*, const char* global, size_t bytes) {
    list.AddBytes(npu::Space::kGm, stores, global, bytes);
  });
  return list;
}

NPU_ONE_BODY(void MoveConvTile(const char* op, const void* call_site, const ConvTransfer& load,
                               bool stores)) {
  const auto operands = [&](auto report) {
    const auto elements = static_cast<uint64_t>(load.tile.Elements());
    report(npu::Work{elements, elements * load.tile.ElementBytes(), 0},
           AccessOf(load.tile.Tile(), !stores), ConvAccess(load, stores));
  };
  npu::Issue(op, stores ? npu::Pipe::kMte3 : npu::Pipe::kMte2, call_site, operands, [&] {
    CheckConvTransfer(op, load);
    CopyConv(load, stores);
  });
}

template <class Conv, class Global>
[[gnu::noinline]] void LoadConv(Conv& tile, Global& global) {
  static_assert(Conv::Loc == TileType::Mat, "TLOAD: expected a ConvTile of kind Mat");
  static_assert(sizeof(typename Conv::DType) == sizeof(typename Global::DType),
                "TLOAD: expected tile and global tensor of one element size");
  static_assert(Conv::layout == Global::layout &&
                    (Conv::layout == Layout::NC1HWC0 || Conv::layout == Layout::NDC1HWC0 ||
                     Conv::layout == Layout::FRACTAL_Z || Conv::layout == Layout::FRACTAL_Z_3D),
                "TLOAD: expected a ConvTile and a global tensor of one of the layouts NC1HWC0, "
                "NDC1HWC0, FRACTAL_Z and FRACTAL_Z_3D");
  static_assert((kForHost && kLacksC0<Conv>) ||
                    Conv::totalDimCount == (Conv::layout == Layout::NDC1HWC0 ? 6 : 5) ||
                    (Conv::totalDimCount == 4 &&
                     (Conv::layout == Layout::FRACTAL_Z || Conv::layout == Layout::FRACTAL_Z_3D)),
                "TLOAD: expected a ConvTile of 5 dimensions, 6 of NDC1HWC0, or 4 of a filter");
  const ConvFacts facts(tile);
  MoveConvTile("TLOAD", __builtin_return_address(0), ConvTransfer(facts, global), false);
}

/// The way back, which no chip has.
template <class Conv, class Global>
[[gnu::noinline]] void StoreConvOnHost(Global& global, Conv& tile) {
  static_assert(kForHost || sizeof(Conv) == 0,
                "TSTORE: expected a Vec, Mat or Acc tile, no ConvTile");
  static_assert(Conv::Loc == TileType::Mat && Conv::layout == Global::layout &&
                    sizeof(typename Conv::DType) == sizeof(typename Global::DType),
                "TSTORE: expected a ConvTile of kind Mat, of the layout and the element size of "
                "the global tensor");
  const ConvFacts facts(tile);
  MoveConvTile("TSTORE", __builtin_return_address(0), ConvTransfer(facts, global), true);
}

}  // namespace pto::detail
