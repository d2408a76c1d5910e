// SPDX-License-Identifier: Apache-2.0
#pragma once

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

  /// Where the run of C0 elements of a row and column starts, in elements of the image; -1 where
  /// the padding lies, or nothing.
  int64_t Source(int64_t row, int64_t col, int64_t width, int64_t rows) const {
    const int64_t tap = col / c0, channel = tap / (int64_t{filter_h} * filter_w);
    if (row >= rows || channel * c0 >= channels) return -1;
    const int64_t y = row / width * stride_h + tap / filter_w % filter_h * dilation_h - image.top;
    const int64_t x = row % width * stride_w + tap % filter_w * dilation_w - image.left;
    if (y < 0 || y >= image.height || x < 0 || x >= image.width) return -1;
    return ((channel * image.height + y) * image.width + x) * c0;
  }
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
  const size_t bytes = dst.kind->element_bytes, run = static_cast<size_t>(shape.c0) * bytes;
  std::byte pad[npu::kTileAlignment];
  const uint32_t padding = shape.image.padding;
  for (size_t i = 0; i < sizeof(pad); i += bytes) std::memcpy(pad + i, &padding, bytes);
  const int64_t width = shape.Width(), rows = shape.Height() * width;
  for (size_t row = 0; row < dst.Lines(); ++row) {
    for (size_t col = 0; col < dst.Length(); col += static_cast<size_t>(shape.c0)) {
      const int64_t from = shape.Source(pos_m + static_cast<int64_t>(row),
                                        pos_k + static_cast<int64_t>(col), width, rows);
      const std::byte* start = from < 0 ? pad : src.Data() + from * static_cast<int64_t>(bytes);
      std::memcpy(dst.data + order.Offset(row, col) * bytes, start, run);
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
    const TileFacts to(dst);
    report(npu::Work{to.Lines() * to.Length(), 0, 0}, Writes(dst), AccessOf(conv.Tile(), false));
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
