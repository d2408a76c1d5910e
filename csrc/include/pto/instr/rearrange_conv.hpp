// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "pto/check.hpp"
#include "pto/conv_tile.hpp"
#include "pto/pieces.hpp"

/// TTRANS between the layouts of images and filters of convolutions.
namespace pto::detail {

enum class ConvTurn : uint8_t { kNone, kSplitChannels, kJoinChannels, kFilter, kFilter3d };

constexpr ConvTurn ConvTurnOf(Layout dst, Layout src) {
  if ((src == Layout::NCHW && dst == Layout::NC1HWC0) ||
      (src == Layout::GNCHW && dst == Layout::GNC1HWC0))
    return ConvTurn::kSplitChannels;
  if ((src == Layout::NC1HWC0 && dst == Layout::NCHW) ||
      (src == Layout::GNC1HWC0 && dst == Layout::GNCHW))
    return ConvTurn::kJoinChannels;
  if ((src == Layout::NC1HWC0 || src == Layout::GNC1HWC0) && dst == Layout::FRACTAL_Z)
    return ConvTurn::kFilter;
  if (src == Layout::NCDHW && dst == Layout::FRACTAL_Z_3D) return ConvTurn::kFilter3d;
  return ConvTurn::kNone;
}

/// Sizes of both tiles. channels: of the tile without C0, with those that fill up the last C0 but
/// in 3-D filters.
struct ConvSizes {
  int64_t groups, images, channels, c0, depth, pixels;
  int64_t filters;  // images up to whole N0

  int64_t Blocks() const { return (channels + c0 - 1) / c0; }
};

inline ConvSizes ConvSizesOf(ConvTurn turn, bool grouped, const ConvFacts& dst,
                             const ConvFacts& src) {
  const int first = grouped ? 1 : 0;
  const ConvFacts& split = turn == ConvTurn::kSplitChannels ? dst : src;  // the one with C1 and C0
  ConvSizes sizes = {grouped ? src.Shape(0) : 1, src.Shape(first), 0, 0, 1, 0, 0};
  if (turn == ConvTurn::kFilter3d) {
    sizes.channels = src.Shape(1);
    sizes.depth = src.Shape(2);
    sizes.pixels = src.Shape(3) * src.Shape(4);
    sizes.c0 = dst.Shape(3);
  } else {
    sizes.c0 = split.Shape(first + 4);
    sizes.channels = split.Shape(first + 1) * sizes.c0;
    sizes.pixels = split.Shape(first + 2) * split.Shape(first + 3);
  }
  const bool is_filter = turn == ConvTurn::kFilter || turn == ConvTurn::kFilter3d;
  sizes.filters = is_filter ? dst.Shape(1) * dst.Shape(2) : sizes.images;
  return sizes;
}

/// The shape that dst must have; returns its dimensions.
inline int ExpectedShape(ConvTurn turn, bool grouped, const ConvSizes& sizes, const ConvFacts& dst,
                         const ConvFacts& src, int64_t* shape) {
  int dims = 0;
  if (turn == ConvTurn::kFilter || turn == ConvTurn::kFilter3d) {
    const int64_t n0 = dst.Shape(2) > 0 ? dst.Shape(2) : 1;
    shape[dims++] = sizes.groups * sizes.depth * sizes.Blocks() * sizes.pixels;
    shape[dims++] = (sizes.images + n0 - 1) / n0;
    shape[dims++] = n0;
    shape[dims++] = sizes.c0;
    return dims;
  }
  const int first = grouped ? 1 : 0;
  if (grouped) shape[dims++] = sizes.groups;
  shape[dims++] = sizes.images;
  if (turn == ConvTurn::kSplitChannels) {
    shape[dims++] = (src.Shape(first + 1) + sizes.c0 - 1) / sizes.c0;
    shape[dims++] = src.Shape(first + 2);
    shape[dims++] = src.Shape(first + 3);
    shape[dims++] = sizes.c0;
  } else {
    shape[dims++] = sizes.channels;
    shape[dims++] = src.Shape(first + 2);
    shape[dims++] = src.Shape(first + 3);
  }
  return dims;
}

/// Faults unless the first elements of a tile lie within its space. Holds with checks off too.
NPU_ONE_BODY(void CheckConvReach(const npu::Core& core, const char* operand, const ConvFacts& conv,
                                 int64_t elements)) {
  const auto space = static_cast<int>(npu::Space::kUb);
  const int64_t end =
      conv.Data() - core.scratchpad[space] + elements * static_cast<int64_t>(conv.ElementBytes());
  if (end <= static_cast<int64_t>(core.arch->capacity[space])) return;
  npu::RaiseFault("TTRANS",
                  npu::Text(operand) + " of " + npu::TextOf(elements) +
                      " elements, with those that fill it up, that ends within the " +
                      npu::TextOf(core.arch->capacity[space]) + " bytes of UB",
                  "end " + npu::TextOf(end));
}

NPU_ONE_BODY(void CheckConvShapes(ConvTurn turn, bool grouped, const ConvSizes& sizes,
                                  const ConvFacts& dst, const ConvFacts& src)) {
  const npu::Core& core = *npu::current_core;
  CheckTile(core, "TTRANS", "dst", dst.Tile());
  CheckTile(core, "TTRANS", "src", src.Tile());
  if (sizes.c0 <= 0) npu::RaiseFault("TTRANS", "a C0 of at least 1", npu::TextOf(sizes.c0));
  int64_t expected[kConvDims] = {};
  const int dims = ExpectedShape(turn, grouped, sizes, dst, src, expected);
  bool same = true;
  npu::Text text;
  for (int d = 0; d < dims; ++d) {
    same = same && expected[d] == dst.Shape(d);
    text += (d > 0 ? "x" : "") + npu::TextOf(expected[d]);
  }
  if (!same) {
    npu::RaiseFault("TTRANS", "dst of " + text + " (from src of " + src.Extents() + ")",
                    dst.Extents());
  }
  const auto block = static_cast<int64_t>(npu::kTileAlignment / src.ElementBytes());
  if (core.check_limits && grouped && turn == ConvTurn::kJoinChannels && sizes.c0 != block) {
    npu::RaiseFault("TTRANS", "a C0 of " + npu::TextOf(block) + " (32 bytes) of groups",
                    npu::TextOf(sizes.c0));
  }
}

/// Between [G, N, C1, C0, HW] and [G, N, C1, HW, C0].
inline void TurnChannels(const ConvSizes& sizes, const ConvFacts& dst, const ConvFacts& src,
                         bool splits) {
  const size_t bytes = src.ElementBytes(), pixels = static_cast<size_t>(sizes.pixels);
  const int64_t c0 = sizes.c0, blocks = sizes.groups * sizes.images * sizes.Blocks();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t channel = 0; channel < c0; ++channel) {
      const int64_t plane = (block * c0 + channel) * sizes.pixels;
      const int64_t turned = block * c0 * sizes.pixels + channel;
      const size_t to = static_cast<size_t>(splits ? turned : plane) * bytes;
      const size_t from = static_cast<size_t>(splits ? plane : turned) * bytes;
      CopyRun(bytes, reinterpret_cast<char*>(dst.Data() + to), splits ? c0 : 1,
              reinterpret_cast<const char*>(src.Data() + from), splits ? 1 : c0, pixels);
    }
  }
}

/// From [G, filters, C1HW, C0], of which the first N images count, to [G, C1HW, filters, C0]. The
/// other filters become 0 where there are groups, else they stay.
inline void TurnFilter(const ConvSizes& sizes, bool grouped, const ConvFacts& dst,
                       const ConvFacts& src) {
  const size_t run = static_cast<size_t>(sizes.c0) * src.ElementBytes();
  const int64_t places = sizes.Blocks() * sizes.pixels;
  for (int64_t group = 0; group < sizes.groups; ++group) {
    for (int64_t filter = 0; filter < (grouped ? sizes.filters : sizes.images); ++filter) {
      for (int64_t place = 0; place < places; ++place) {
        const int64_t to = (group * places + place) * sizes.filters + filter;
        const int64_t from = (group * sizes.filters + filter) * places + place;
        std::byte* target = dst.Data() + static_cast<size_t>(to) * run;
        if (filter < sizes.images) {
          std::memcpy(target, src.Data() + static_cast<size_t>(from) * run, run);
        } else {
          std::memset(target, 0, run);
        }
      }
    }
  }
}

/// From [N, C, D, HW] to [D, C1, HW, filters, C0], 0 where src has nothing.
inline void TurnFilter3d(const ConvSizes& sizes, const ConvFacts& dst, const ConvFacts& src) {
  const size_t bytes = src.ElementBytes(), pixels = static_cast<size_t>(sizes.pixels);
  const int64_t step = sizes.filters * sizes.c0;
  std::memset(dst.Data(), 0, static_cast<size_t>(dst.Elements()) * bytes);
  for (int64_t image = 0; image < sizes.images; ++image) {
    for (int64_t channel = 0; channel < sizes.channels; ++channel) {
      for (int64_t d = 0; d < sizes.depth; ++d) {
        const int64_t from = ((image * sizes.channels + channel) * sizes.depth + d) * sizes.pixels;
        const int64_t to = (d * sizes.Blocks() + channel / sizes.c0) * sizes.pixels * step +
                           image * sizes.c0 + channel % sizes.c0;
        CopyRun(bytes, reinterpret_cast<char*>(dst.Data() + static_cast<size_t>(to) * bytes), step,
                reinterpret_cast<const char*>(src.Data() + static_cast<size_t>(from) * bytes), 1,
                pixels);
      }
    }
  }
}

/// What a turn touches of dst (is_write) or src, for observers.
NPU_ONE_BODY(npu::AccessList TurnedPart(ConvTurn turn, bool grouped, const ConvSizes& sizes,
                                        const ConvFacts& tile, bool is_write)) {
  constexpr int64_t kMost = 1 << 24;  // elements: more than any space has
  npu::AccessList list;
  const auto bytes = static_cast<int64_t>(tile.ElementBytes());
  const auto add = [&](int64_t first, int64_t count) {
    list.AddBytes(npu::Space::kUb, is_write, tile.Data() + first * bytes,
                  static_cast<size_t>(std::max<int64_t>(count, 0) * bytes));
  };
  if (turn == ConvTurn::kFilter3d) {
    const int64_t image = sizes.channels * sizes.depth * sizes.pixels;
    add(0, is_write ? tile.Elements() : sizes.images * image);
  } else if (turn != ConvTurn::kFilter) {
    add(0, sizes.groups * sizes.images * sizes.Blocks() * sizes.c0 * sizes.pixels);
  } else if (tile.Elements() <= kMost) {  // else a fault says so
    const int64_t places = sizes.Blocks() * sizes.pixels, c0 = sizes.c0;
    const int64_t written = grouped ? sizes.filters : sizes.images;
    for (int64_t i = 0; is_write && i < sizes.groups * places; ++i) {
      add(i * sizes.filters * c0, written * c0);
    }
    for (int64_t group = 0; !is_write && group < sizes.groups; ++group) {
      add(group * sizes.filters * places * c0, sizes.images * places * c0);
    }
  }
  return list;
}

NPU_ONE_BODY(void TransposeConvTiles(const void* call_site, ConvTurn turn, bool grouped,
                                     const ConvFacts& dst, const ConvFacts& src)) {
  const ConvSizes sizes = ConvSizesOf(turn, grouped, dst, src);
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(src.Elements()), 0, 0},
           TurnedPart(turn, grouped, sizes, dst, true),
           TurnedPart(turn, grouped, sizes, src, false));
  };
  npu::Issue("TTRANS", npu::Pipe::kV, call_site, operands, [&] {
    CheckConvShapes(turn, grouped, sizes, dst, src);
    const int64_t image = sizes.Blocks() * sizes.c0 * sizes.depth * sizes.pixels;
    const int64_t images = (sizes.groups - 1) * sizes.filters + sizes.images;
    if (turn != ConvTurn::kFilter3d) CheckConvReach(*npu::current_core, "src", src, images * image);
    if (turn == ConvTurn::kFilter) {
      TurnFilter(sizes, grouped, dst, src);
    } else if (turn == ConvTurn::kFilter3d) {
      TurnFilter3d(sizes, dst, src);
    } else {
      TurnChannels(sizes, dst, src, turn == ConvTurn::kSplitChannels);
    }
  });
}

/// True where programs for simulators mean another thing, and it is done.
template <class Dst, class Src>
bool TransposeConvOnHost(const void* call_site, ConvTurn turn, bool grouped, Dst& dst, Src& src);

template <class Dst, class Src>
[[gnu::noinline]] void TransposeConv(Dst& dst, Src& src) {
  constexpr ConvTurn kTurn = ConvTurnOf(Dst::layout, Src::layout);
  constexpr bool kGrouped = Src::layout == Layout::GNCHW || Src::layout == Layout::GNC1HWC0;
  static_assert(
      kTurn != ConvTurn::kNone,
      "TTRANS: expected ConvTiles of layouts NCHW to NC1HWC0 or back, the same of groups, "
      "NC1HWC0 or GNC1HWC0 to FRACTAL_Z, or NCDHW to FRACTAL_Z_3D");
  static_assert(Dst::Loc == TileType::Vec && Src::Loc == TileType::Vec,
                "TTRANS: expected ConvTiles of kind Vec");
  static_assert(sizeof(typename Dst::DType) == sizeof(typename Src::DType) &&
                    sizeof(typename Src::DType) <= 4,
                "TTRANS: expected tiles of one element size of 8, 16 or 32 bits");
  const void* call_site = __builtin_return_address(0);
  if constexpr (kForHost) {
    if (TransposeConvOnHost(call_site, kTurn, kGrouped, dst, src)) return;
  }
  TransposeConvTiles(call_site, kTurn, kGrouped, ConvFacts(dst), ConvFacts(src));
}

}  // namespace pto::detail
