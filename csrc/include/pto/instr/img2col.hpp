// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "pto/check.hpp"
#include "pto/conv_tile.hpp"
#include "pto/copy_tile.hpp"
#include "pto/traits.hpp"

namespace pto {

namespace detail {

constexpr bool IsAuto(SetFmatrixMode mode) {
  return mode == SetFmatrixMode::FMATRIX_A_AUTO || mode == SetFmatrixMode::FMATRIX_B_AUTO;
}
constexpr int SideOf(SetFmatrixMode mode) {
  const bool is_b =
      mode == SetFmatrixMode::FMATRIX_B_AUTO || mode == SetFmatrixMode::FMATRIX_B_MANUAL;
  return is_b ? 1 : 0;
}

/// The registers of padding and repetition: A2/A3 has but one of each.
inline npu::Img2colRegisters& PaddingOf(npu::Core& core, int side) {
  return core.img2col[core.arch->generation == npu::Generation::kA3 ? 0 : side];
}

template <class Conv>
inline void SetImage(npu::Core& core, int side, const Conv& conv) {
  npu::Img2colRegisters& registers = core.img2col[side];
  const uint8_t* pads = conv.GetPadListArray();
  registers.has_image = true;
  registers.height = conv.GetFmapH();
  registers.width = conv.GetFmapW();
  registers.left = pads[0];
  registers.right = pads[1];
  registers.top = pads[2];
  registers.bottom = pads[3];
}
template <class Conv>
inline void SetRepetition(npu::Core& core, int side, const Conv& conv) {
  PaddingOf(core, side).repeat_time = conv.GetRepeatTime();
}
template <class Conv>
inline void SetPadding(npu::Core& core, int side, const Conv& conv) {
  const auto value = conv.GetPadValue();
  uint32_t& padding = PaddingOf(core, side).padding;
  padding = 0;
  std::memcpy(&padding, &value, sizeof(value) < sizeof(padding) ? sizeof(value) : sizeof(padding));
}

/// An image as a matrix: a row for each place of the filter, a column for each element under it.
struct Img2colShape {
  npu::Img2colRegisters image;
  int64_t channels;  // up to a whole C0
  int64_t c0;
  int filter_h, filter_w, dilation_h, dilation_w, stride_h, stride_w;

  int64_t Places(int64_t size, int64_t pads, int64_t filter, int64_t dilation,
                 int64_t stride) const {
    const int64_t rest = size + pads - dilation * (filter - 1) - 1;
    return rest < 0 ? 0 : rest / stride + 1;
  }
  int64_t Height() const {
    return Places(image.height, image.top + image.bottom, filter_h, dilation_h, stride_h);
  }
  int64_t Width() const {
    return Places(image.width, image.left + image.right, filter_w, dilation_w, stride_w);
  }
  int64_t ImageElements() const { return channels * image.height * image.width; }

  /// The matrix has a place of the filter in each row.
  int64_t Rows() const { return Height() * Width(); }
};

/// What one tap of the filter sees of C0 channels, in pieces of places that follow one another.
class Img2colTap {
 public:
  /// The tap of column col, from the place of row pos_m on.
  Img2colTap(const Img2colShape& shape, int64_t pos_m, int64_t col)
      : shape_(shape), width_(shape.Width()), place_(pos_m % width_) {
    const int64_t tap = col / shape.c0, channel = tap / (int64_t{shape.filter_h} * shape.filter_w);
    left_ = channel * shape.c0 < shape.channels ? std::max<int64_t>(shape.Rows() - pos_m, 0) : 0;
    x_ = tap % shape.filter_w * shape.dilation_w - shape.image.left;
    y_ = tap / shape.filter_w % shape.filter_h * shape.dilation_h - shape.image.top +
         pos_m / width_ * shape.stride_h;
    plane_ = channel * shape.image.height * shape.image.width;
  }

  /// Of the next places, count at most: calls pad(n) for n that lie in the padding or behind the
  /// matrix, see(at, n) for n from element at of the image on. The number of places.
  template <class Pad, class See>
  int64_t Take(int64_t count, const Pad& pad, const See& see) {
    if (left_ == 0) return pad(count), count;
    count = std::min({count, left_, width_ - place_});
    const int64_t step = shape_.stride_w, end = shape_.image.width;
    const int64_t x = x_ + place_ * step;
    const auto reach = [&](int64_t to) {  // places before the first one at to or behind it
      return x >= to ? 0 : std::min((to - x + step - 1) / step, count);
    };
    const bool inside = y_ >= 0 && y_ < shape_.image.height;
    const int64_t before = inside ? reach(0) : count, behind = inside ? reach(end) : count;
    if (before > 0) pad(before);
    if (behind > before) {
      const int64_t row = plane_ + y_ * shape_.image.width;
      see((row + x + before * step) * shape_.c0, behind - before);
    }
    if (count > behind) pad(count - behind);
    left_ -= count;
    place_ += count;
    if (place_ == width_) {
      place_ = 0;
      y_ += shape_.stride_h;
    }
    return count;
  }

 private:
  const Img2colShape& shape_;
  int64_t width_, place_;  // places in a row of them; the next one
  int64_t left_, x_, y_, plane_;
};

NPU_ONE_BODY(void CheckImg2col(const Img2colShape& shape, const ConvFacts& src, bool transposes,
                               int repeat_time, int pos_k)) {
  constexpr const char* kOp = "TIMG2COL";
  if (!shape.image.has_image) {
    npu::RaiseFault(kOp, "SETFMATRIX before, or an automatic mode", "no image");
  }
  if (transposes)
    npu::RaiseFault(kOp, "a src without SetTranspose (not emulated)", "a transposed one");
  if (repeat_time > 1) {
    npu::RaiseFault(kOp, "a repeat time of at most 1 (more is not emulated)",
                    npu::TextOf(repeat_time));
  }
  const bool has_sizes = shape.filter_h > 0 && shape.filter_w > 0 && shape.stride_h > 0 &&
                         shape.stride_w > 0 && shape.Height() > 0 && shape.Width() > 0;
  if (!has_sizes) {
    npu::RaiseFault(kOp,
                    "a filter within the padded image of " +
                        TileFacts::Extent(shape.image.height, shape.image.width) +
                        ", and strides of at least 1",
                    TileFacts::Extent(shape.filter_h, shape.filter_w) + ", strides " +
                        npu::TextOf(shape.stride_h) + " and " + npu::TextOf(shape.stride_w));
  }
  if (shape.ImageElements() > src.Elements()) {
    npu::RaiseFault(kOp, "an image within the " + npu::TextOf(src.Elements()) + " elements of src",
                    npu::TextOf(shape.channels) + " channels of " +
                        TileFacts::Extent(shape.image.height, shape.image.width));
  }
  if (pos_k % shape.c0 != 0) {
    npu::RaiseFault(kOp, "posK of a multiple of " + npu::TextOf(shape.c0) + " (32 bytes)",
                    npu::TextOf(pos_k));
  }
}

/// dst = the matrix from row pos_m and column pos_k on, in whole runs of C0 columns.
NPU_ONE_BODY(void FillImg2col(const TileFacts& dst, const ConvFacts& src, const Img2colShape& shape,
                              int pos_m, int pos_k)) {
  const LineOrder order = dst.Order();
  const size_t bytes = dst.kind->element_bytes;
  constexpr size_t kRun = npu::kTileAlignment;
  std::byte padding[kRun];
  for (size_t i = 0; i < kRun; i += bytes) std::memcpy(padding + i, &shape.image.padding, bytes);
  const size_t from_step = static_cast<size_t>(shape.stride_w) * kRun;
  for (size_t col = 0; col < dst.Length(); col += static_cast<size_t>(shape.c0)) {
    Img2colTap tap(shape, pos_m, pos_k + static_cast<int64_t>(col));
    std::byte* to = nullptr;
    const size_t row_bytes = order.run * bytes;
    const auto put = [&](const std::byte* from, size_t step, int64_t count) {
      for (; count > 0; --count, to += row_bytes, from += step) std::memcpy(to, from, kRun);
    };
    for (size_t row = 0; row < dst.Lines();) {
      to = dst.data + order.Offset(row, col) * bytes;  // from here to the end of the box
      const size_t rest = order.box_lines - row % order.box_lines;
      row += static_cast<size_t>(tap.Take(
          static_cast<int64_t>(std::min(rest, dst.Lines() - row)),
          [&](int64_t count) { put(padding, 0, count); },
          [&](int64_t at, int64_t count) {
            put(src.Data() + at * static_cast<int64_t>(bytes), from_step, count);
          }));
    }
  }
}

template <SetFmatrixMode kMode, class Dst, class Conv>
[[gnu::noinline]] void Img2col(Dst& dst, Conv& src, int pos_m, int pos_k) {
  using T = typename Dst::DType;
  static_assert(Conv::Loc == TileType::Mat && Dst::Loc == TileType::Left && Dst::isInnerRowMajor,
                "TIMG2COL: expected a Left tile of RowMajor boxes from a ConvTile of kind Mat");
  static_assert(Conv::layout == Layout::NC1HWC0 || Conv::layout == Layout::NDC1HWC0,
                "TIMG2COL: expected a ConvTile of layout NC1HWC0 or NDC1HWC0");
  static_assert(std::is_same_v<T, typename Conv::DType> && sizeof(T) <= 4,
                "TIMG2COL: expected tiles of one element type of 8, 16 or 32 bits");
  constexpr int kSide = SideOf(kMode);
  const void* call_site = __builtin_return_address(0);
  const ConvFacts conv(src);
  const auto operands = [&](auto report) {
    constexpr size_t kRun = npu::kTileAlignment / sizeof(T);
    const TileFacts to(dst);
    const LinePart runs = {0, 0, to.Lines(), (to.Length() + kRun - 1) / kRun * kRun};
    // Which taps are read the registers say: all of the image, for observers.
    report(npu::Work{to.Lines() * to.Length(), 0, 0}, AccessOf(to, runs, true),
           AccessOf(conv.Tile(), false));
  };
  npu::Issue("TIMG2COL", npu::Pipe::kMte1, call_site, operands, [&] {
    npu::Core& core = *npu::current_core;
    CheckType<T>(core, "TIMG2COL", {kLeftRightTypes, kLeftRightTypes | kInts8To32});
    CheckTile(core, "TIMG2COL", "dst", dst);
    CheckTile(core, "TIMG2COL", "src", conv.Tile());
    if constexpr (IsAuto(kMode)) {
      SetImage(core, kSide, src);
      SetRepetition(core, kSide, src);
      SetPadding(core, kSide, src);
    }
    constexpr int64_t kRun = static_cast<int64_t>(npu::kTileAlignment / sizeof(T));
    Img2colShape shape = {core.img2col[kSide],
                          (src.GetChannelSize() + kRun - 1) / kRun * kRun,
                          kRun,
                          src.GetFilterH(),
                          src.GetFilterW(),
                          src.GetDilationH(),
                          src.GetDilationW(),
                          src.GetStrideH(),
                          src.GetStrideW()};
    shape.image.padding = PaddingOf(core, kSide).padding;
    CheckImg2col(shape, conv, src.GetTranspose(), PaddingOf(core, kSide).repeat_time, pos_k);
    FillImg2col(TileFacts(dst), conv, shape, pos_m, pos_k);
  });
}

template <class Set>
inline void SetRegisters(const char* op, const void* call_site, const Set& set) {
  npu::Issue(op, npu::Pipe::kS, call_site, [](auto report) { report(npu::Work{}); }, set);
}

template <SetFmatrixMode kMode, class Conv>
[[gnu::noinline]] void SetFmatrix(Conv& src) {
  SetRegisters("SETFMATRIX", __builtin_return_address(0), [&] {
    if (!IsAuto(kMode)) SetImage(*npu::current_core, SideOf(kMode), src);
  });
}
template <SetFmatrixMode kMode, class Conv>
[[gnu::noinline]] void SetImg2colRepeat(Conv& src) {
  SetRegisters("SET_IMG2COL_RPT", __builtin_return_address(0), [&] {
    if (!IsAuto(kMode)) SetRepetition(*npu::current_core, SideOf(kMode), src);
  });
}
template <SetFmatrixMode kMode, class Conv>
[[gnu::noinline]] void SetImg2colPadding(Conv& src) {
  SetRegisters("SET_IMG2COL_PADDING", __builtin_return_address(0), [&] {
    if (!IsAuto(kMode)) SetPadding(*npu::current_core, SideOf(kMode), src);
  });
}

}  // namespace detail

/// dst = part of the matrix whose product with the filters is a convolution: from row pos_m (a
/// place of the filter, row after row of them) and column pos_k on (C1, filter row, filter column,
/// C0) over the valid region of dst, columns up to whole 32 bytes.
///   dst   Left tile: int8, half, bfloat16, float; A5 also the other integers of 8 to 32 bits
///   src   ConvTile of kind Mat and layout NC1HWC0 or NDC1HWC0: its first image, with the filter,
///         strides, dilations and channels of its setters; pos_k at a multiple of 32 bytes
///   kMode which registers tell the size of the image and its padding: A or B, as SETFMATRIX and
///         SET_IMG2COL_PADDING left them, or set here from src (AUTO)
/// What lies outside of the image, and rows and columns behind the matrix, are the pad value.
/// Pipe MTE1. Source: PTO ISA, TIMG2COL.
template <class Dst, class Conv, SetFmatrixMode kMode = SetFmatrixMode::FMATRIX_A_MANUAL,
          class... Events>
[[gnu::always_inline]] inline RecordEvent TIMG2COL(Dst& dst, Conv& src, uint16_t pos_m = 0,
                                                   uint16_t pos_k = 0, Events&... events) {
  (events.Wait(), ...);
  detail::Img2col<kMode>(dst, src, pos_m, pos_k);
  npu::KeepCallSite();
  return {};
}

/// Sets the size of the image and of its padding for TIMG2COL, in the registers A or B; nothing in
/// the modes AUTO. Pipe S. Source: PTO ISA, SETFMATRIX.
template <class Conv, SetFmatrixMode kMode = SetFmatrixMode::FMATRIX_A_MANUAL, class... Events>
[[gnu::always_inline]] inline RecordEvent SETFMATRIX(Conv& src, Events&... events) {
  (events.Wait(), ...);
  detail::SetFmatrix<kMode>(src);
  npu::KeepCallSite();
  return {};
}

/// The same of the repetition of TIMG2COL, of which A2/A3 has one register for A and B.
template <class Conv, SetFmatrixMode kMode = SetFmatrixMode::FMATRIX_A_MANUAL, class... Events>
[[gnu::always_inline]] inline RecordEvent SET_IMG2COL_RPT(Conv& src, Events&... events) {
  (events.Wait(), ...);
  detail::SetImg2colRepeat<kMode>(src);
  npu::KeepCallSite();
  return {};
}

/// The same of the value that pads.
template <class Conv, SetFmatrixMode kMode = SetFmatrixMode::FMATRIX_A_MANUAL, class... Events>
[[gnu::always_inline]] inline RecordEvent SET_IMG2COL_PADDING(Conv& src, Events&... events) {
  (events.Wait(), ...);
  detail::SetImg2colPadding<kMode>(src);
  npu::KeepCallSite();
  return {};
}

}  // namespace pto
