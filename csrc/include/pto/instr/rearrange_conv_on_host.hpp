// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pto/cpu/tile_offsets.hpp"
#include "pto/instr/rearrange_conv.hpp"

/// TTRANS of images and filters in programs for simulators, whose tiles hold what their shapes say
/// and nothing that fills it up: elements of any size, one by one.
namespace pto::detail {

/// Images and channels of src as its shape counts them; what dst has beyond them becomes 0.
template <class T>
struct ConvTurnOnHost {
  ConvSizes sizes;
  int64_t channels;
  T* dst;
  const T* src;

  /// From [G, N, C, HW] to [G, N, C1, HW, C0].
  void SplitChannels() const {
    ForEachChannel([&](int64_t image, int64_t channel, int64_t pixel, int64_t split) {
      const int64_t from = (image * channels + channel) * sizes.pixels + pixel;
      Put(split, channel < channels ? Get(from) : T{});
    });
  }
  void JoinChannels() const {
    ForEachChannel([&](int64_t image, int64_t channel, int64_t pixel, int64_t split) {
      Put((image * sizes.channels + channel) * sizes.pixels + pixel, Get(split));
    });
  }

  /// From [G, N, C1HW, C0] to [G, C1HW, filters, C0].
  void TurnFilters() const {
    const int64_t places = sizes.Blocks() * sizes.pixels;
    for (int64_t row = 0; row < sizes.groups * places; ++row) {
      for (int64_t filter = 0; filter < sizes.filters; ++filter) {
        const int64_t image = row / places * sizes.images + filter;
        for (int64_t channel = 0; channel < sizes.c0; ++channel) {
          const int64_t from = (image * places + row % places) * sizes.c0 + channel;
          const int64_t to = (row * sizes.filters + filter) * sizes.c0 + channel;
          Put(to, filter < sizes.images ? Get(from) : T{});
        }
      }
    }
  }

 private:
  /// Calls move(image, channel, pixel, place in the tile with C1 and C0).
  template <class Move>
  void ForEachChannel(const Move& move) const {
    for (int64_t image = 0; image < sizes.groups * sizes.images; ++image) {
      for (int64_t channel = 0; channel < sizes.channels; ++channel) {
        const int64_t block = image * sizes.Blocks() + channel / sizes.c0;
        for (int64_t pixel = 0; pixel < sizes.pixels; ++pixel) {
          move(image, channel, pixel,
               (block * sizes.pixels + pixel) * sizes.c0 + channel % sizes.c0);
        }
      }
    }
  }
  T Get(int64_t at) const { return GetProperDataPart(src, static_cast<size_t>(at)); }
  void Put(int64_t at, T value) const { SetProperDataPart(dst, static_cast<size_t>(at), value); }
};

/// Whether such a program means another thing than a chip: of 3-D filters all is alike.
template <class T>
bool TurnsOnHost(ConvTurn turn, const ConvSizes& sizes, int64_t channels) {
  if (turn == ConvTurn::kFilter3d) return false;
  const bool has_gaps = turn == ConvTurn::kFilter && sizes.groups > 1
                            ? sizes.images != sizes.filters
                            : channels != sizes.channels;
  return kPacked<T> != 1 || has_gaps;
}

/// True where it is done.
template <class Dst, class Src>
bool TransposeConvOnHost(const void* call_site, ConvTurn turn, bool grouped, Dst& dst, Src& src) {
  using T = typename Dst::DType;
  const ConvFacts to(dst), from(src);
  const ConvSizes sizes = ConvSizesOf(turn, grouped, to, from);
  const int64_t channels =
      turn == ConvTurn::kSplitChannels ? from.Shape(grouped ? 2 : 1) : sizes.channels;
  if (!npu::TakesHostForms(npu::RunningCore("TTRANS")) || !TurnsOnHost<T>(turn, sizes, channels))
    return false;
  const auto operands = [&](auto report) {
    report(npu::Work{static_cast<uint64_t>(from.Elements()), 0, 0}, AccessOf(to.Tile(), true),
           AccessOf(from.Tile(), false));
  };
  npu::Issue("TTRANS", npu::Pipe::kV, call_site, operands, [&] {
    CheckConvShapes(turn, grouped, sizes, to, from);
    const ConvTurnOnHost<T> host = {sizes, channels, dst.data(),
                                    reinterpret_cast<const T*>(src.data())};
    if (turn == ConvTurn::kSplitChannels) {
      host.SplitChannels();
    } else if (turn == ConvTurn::kJoinChannels) {
      host.JoinChannels();
    } else {
      host.TurnFilters();
    }
  });
  return true;
}

}  // namespace pto::detail
