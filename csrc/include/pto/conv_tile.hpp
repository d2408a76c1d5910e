// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pto/check.hpp"
#include "pto/tile_facts.hpp"

namespace pto {

namespace detail {

inline constexpr int kConvDims = 6;  // most dimensions of a ConvTile

/// Storage of a ConvTile of auto mode.
template <class Conv>
typename Conv::DType* StorageOfConv(const Conv& conv, const TileStorage& storage);

}  // namespace detail

/// Extents of a ConvTile in elements, outermost first; DYNAMIC where given at run time.
template <int... kShape>
struct ConvTileShape {
  static constexpr int totalDimCount = sizeof...(kShape);
  static constexpr int dynamicDimCount = ((kShape == DYNAMIC) + ... + 0);
  static_assert(totalDimCount >= 1 && totalDimCount <= detail::kConvDims,
                "ConvTileShape: expected 1 to 6 dimensions");
  static constexpr int64_t staticShape[detail::kConvDims] = {kShape...};

  int64_t shape[detail::kConvDims] = {(kShape == DYNAMIC ? 1 : kShape)...};

  ConvTileShape() = default;

  /// All dimensions, or exactly the dynamic ones, outermost first.
  template <class... Values, class = decltype((static_cast<int64_t>(Values()) + ... + 0))>
  explicit ConvTileShape(Values... values) {
    constexpr int kGiven = sizeof...(Values);
    static_assert(kGiven == totalDimCount || kGiven == dynamicDimCount,
                  "ConvTileShape: expected all dimensions, or exactly the dynamic ones");
    const int64_t given[] = {static_cast<int64_t>(values)...};
    int next = 0;
    for (int d = 0; d < totalDimCount; ++d) {
      if (staticShape[d] == DYNAMIC) {
        shape[d] = given[kGiven == totalDimCount ? d : next++];
      }
    }
  }
};

#ifdef __PTO_AUTO__
inline namespace auto_mode {
#endif

/// A block of on-chip memory of up to six dimensions, its elements contiguous in the order of the
/// dimensions: an image or a filter of a convolution, with what TIMG2COL has to know of it. Copies
/// name the same memory.
///   BufferSize  elements that it has room for in auto mode; those of its shape, where they are
///   more
/// Source: PTO ISA, ConvTile.
template <TileType Loc_, class T, int BufferSize_, Layout Layout_, class Shape_>
class ConvTile : public detail::TilePlace<ConvTile<Loc_, T, BufferSize_, Layout_, Shape_>, T> {
 public:
  using DType = T;
  using TileDType = T*;
  using ShapeType = Shape_;

  static constexpr TileType Loc = Loc_;
  static constexpr int bufferSize = BufferSize_;
  static constexpr Layout layout = Layout_;
  static constexpr int totalDimCount = ShapeType::totalDimCount;
  static constexpr int dynamicDimCount = ShapeType::dynamicDimCount;
  static constexpr int64_t staticShape[detail::kConvDims] = {
      ShapeType::staticShape[0], ShapeType::staticShape[1], ShapeType::staticShape[2],
      ShapeType::staticShape[3], ShapeType::staticShape[4], ShapeType::staticShape[5]};

  ConvTile() = default;

  /// The dynamic dimensions, outermost first.
  template <class... Values, class = decltype((static_cast<int64_t>(Values()) + ... + 0))>
  explicit ConvTile(Values... values) {
    SetDynamicShape(values...);
  }
  template <class... Values>
  void SetDynamicShape(Values... values) {
    static_assert(sizeof...(Values) == dynamicDimCount,
                  "ConvTile: expected as many values as dynamic dimensions");
    shape_ = ShapeType(values...);
  }

  /// Extent of a dimension; -1 behind the last.
  int64_t GetShape(int dim) const {
    return dim < 0 || dim >= totalDimCount ? -1 : shape_.shape[dim];
  }

  // Size of the image, and rows and columns around it that count as the pad value: left, right,
  // top, bottom.
  uint16_t GetFmapH() const { return fmap_h_; }
  void SetFmapH(uint16_t height) { fmap_h_ = height; }
  uint16_t GetFmapW() const { return fmap_w_; }
  void SetFmapW(uint16_t width) { fmap_w_ = width; }
  uint8_t GetPadList(uint8_t index) const { return pad_list_[index % kPads]; }
  void SetPadList(uint8_t index, uint8_t size) { pad_list_[index % kPads] = size; }
  const uint8_t* GetPadListArray() const { return pad_list_; }
  void SetPadListArray(const uint8_t sizes[4]) {
    for (int i = 0; i < kPads; ++i) pad_list_[i] = sizes[i];
  }
  T GetPadValue() const { return pad_value_; }
  void SetPadValue(T value) { pad_value_ = value; }

  // Size of the filter, and the distance of its taps and of its places in the image.
  uint16_t GetFilterH() const { return filter_h_; }
  void SetFilterH(uint16_t height) { filter_h_ = height; }
  uint16_t GetFilterW() const { return filter_w_; }
  void SetFilterW(uint16_t width) { filter_w_ = width; }
  uint8_t GetDilationH() const { return dilation_h_; }
  void SetDilationH(uint8_t dilation) { dilation_h_ = dilation; }
  uint8_t GetDilationW() const { return dilation_w_; }
  void SetDilationW(uint8_t dilation) { dilation_w_ = dilation; }
  uint8_t GetStrideH() const { return stride_h_; }
  void SetStrideH(uint8_t stride) { stride_h_ = stride; }
  uint8_t GetStrideW() const { return stride_w_; }
  void SetStrideW(uint8_t stride) { stride_w_ = stride; }
  uint16_t GetChannelSize() const { return channel_size_; }
  void SetChannelSize(uint16_t channels) { channel_size_ = channels; }

  // Fields of the chip's instruction that repeat it, and that turn its result.
  uint16_t GetRepeatStride() const { return repeat_stride_; }
  void SetRepeatStride(uint16_t stride) { repeat_stride_ = stride; }
  uint16_t GetRepeatTime() const { return repeat_time_; }
  void SetRepeatTime(uint8_t count) { repeat_time_ = count; }
  uint16_t GetRepeatMode() const { return repeat_mode_; }
  void SetRepeatMode(uint8_t mode) { repeat_mode_ = mode; }
  bool GetTranspose() const { return transpose_; }
  void SetTranspose(bool transpose) { transpose_ = transpose; }
  uint16_t GetDstStride() const { return dst_stride_; }
  void SetDstStride(uint16_t stride) { dst_stride_ = stride; }
  uint16_t GetDstMposition() const { return dst_m_position_; }
  void SetDstMposition(uint16_t position) { dst_m_position_ = position; }

 private:
  friend detail::TilePlace<ConvTile, T>;

  static constexpr int kPads = 4;

  T* TakeFrom(const detail::TileStorage& storage) const {
    return detail::StorageOfConv(*this, storage);
  }

  ShapeType shape_;
  uint8_t pad_list_[kPads] = {};
  uint16_t fmap_h_ = 0, fmap_w_ = 0;
  uint16_t filter_h_ = 1, filter_w_ = 1;
  uint8_t dilation_h_ = 1, dilation_w_ = 1;
  uint8_t stride_h_ = 1, stride_w_ = 1;
  uint16_t channel_size_ = 0;
  uint16_t repeat_stride_ = 0;
  uint8_t repeat_time_ = 1, repeat_mode_ = 0;
  uint16_t dst_stride_ = 0, dst_m_position_ = 0;
  bool transpose_ = false;
  T pad_value_ = {};
};

#ifdef __PTO_AUTO__
}  // namespace auto_mode
#endif

template <class T>
inline constexpr bool is_conv_tile_v = false;
template <TileType kLoc, class T, int kBufferSize, Layout kLayout, class ShapeT>
inline constexpr bool is_conv_tile_v<ConvTile<kLoc, T, kBufferSize, kLayout, ShapeT>> = true;
template <class T>
inline constexpr bool is_conv_tile_v<const T> = is_conv_tile_v<T>;

namespace detail {

/// Whether C0, the last dimension, is in none of a tile of layout NC1HWC0: it is always 32 bytes.
/// Programs for simulators have such tiles.
template <class Conv>
inline constexpr bool kLacksC0 =
    kForHost && Conv::layout == Layout::NC1HWC0 && Conv::totalDimCount == 4;

/// A ConvTile without its type. As a tile it has rows along its last dimension.
class ConvFacts {
 public:
  template <class Conv>
  explicit ConvFacts(const Conv& conv)
      : ConvFacts(conv, reinterpret_cast<std::byte*>(
                            const_cast<void*>(static_cast<const void*>(conv.data())))) {}
  /// The same for a tile that lies at data.
  template <class Conv>
  ConvFacts(const Conv& conv, std::byte* data)
      : dims_(Conv::totalDimCount + (kLacksC0<Conv> ? 1 : 0)), data_(data) {
    constexpr int64_t kC0 = npu::kTileAlignment / sizeof(typename Conv::DType);
    constexpr int64_t kMost = 1 << 30;  // more than any chip has room for
    int64_t rows = 1, cols = 1;
    for (int d = 0; d < dims_; ++d) {
      shape_[d] = d < Conv::totalDimCount ? conv.GetShape(d) : kC0;
      int64_t& extent = d < dims_ - 1 ? rows : cols;
      extent = std::min(extent * std::clamp<int64_t>(shape_[d], 0, kMost), kMost);
    }
    const auto count = static_cast<size_t>(rows), length = static_cast<size_t>(cols);
    const size_t run = length > 0 ? length : 1;
    kind_ = {Conv::Loc,
             TileOrder::kNd,
             kTypeName<typename Conv::DType>,
             sizeof(typename Conv::DType),
             static_cast<int>(rows),
             static_cast<int>(cols),
             {true, false, false, count, length, run, 1},
             true};  // the shape may have grown since TASSIGN: each use looks at the end
  }

  int Dims() const { return dims_; }
  int64_t Shape(int dim) const { return shape_[dim]; }
  std::byte* Data() const { return data_; }
  size_t ElementBytes() const { return kind_.element_bytes; }
  int64_t Elements() const { return int64_t{kind_.rows} * kind_.cols; }

  /// Lives as long as this.
  TileFacts Tile() const { return TileFacts(kind_, data_); }

  /// "5x4x16".
  NPU_ONE_BODY(npu::Text Extents() const) {
    npu::Text text = npu::TextOf(shape_[0]);
    for (int d = 1; d < dims_; ++d) text += "x" + npu::TextOf(shape_[d]);
    return text;
  }

 private:
  int dims_;
  int64_t shape_[kConvDims] = {};
  std::byte* data_;
  TileKind kind_ = {};
};

template <class Conv>
typename Conv::DType* StorageOfConv(const Conv& conv, const TileStorage& storage) {
  using T = typename Conv::DType;
  const ConvFacts facts(conv, nullptr);
  const TileFacts tile = facts.Tile();
  const auto elements =
      static_cast<uint64_t>(std::max<int64_t>(facts.Elements(), Conv::bufferSize));
  return StorageOf<Conv::Loc, T>(storage, elements * sizeof(T), tile.kind->rows, tile.kind->cols);
}

}  // namespace detail

}  // namespace pto
