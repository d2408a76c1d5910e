// SPDX-License-Identifier: Apache-2.0
// npu_core: cube
// Convolutions: what the window sees of images in L1, times the weight, which stays in L0B.
#include <cstdint>

#include "pto/pto-inst.hpp"
#include "tiling/conv.h"

namespace {

using namespace pto;

template <class T>
class Convolution {
 public:
  AICORE Convolution(__gm__ T* output, __gm__ T* images, __gm__ T* weight, __gm__ T* bias,
                     const ConvTiling& tiling)
      : tiling_(tiling), output_(output), images_(images), weight_(weight), bias_(bias) {}

  /// This block's share of the groups of images.
  AICORE void Run() {
    const int64_t groups = (tiling_.images + tiling_.at_once - 1) / tiling_.at_once;
    LoadWeight();
    if (bias_ != nullptr) LoadBias();
    SetAllFree();
    for (int64_t group = groups * get_block_idx() / get_block_num();
         group < groups * (get_block_idx() + 1) / get_block_num(); ++group) {
      const int64_t first = group * tiling_.at_once, left = tiling_.images - first;
      ComputeGroup(first, static_cast<int>(left < tiling_.at_once ? left : tiling_.at_once));
    }
    AwaitAllFree();
  }

 private:
  static constexpr int kC0 = 32 / static_cast<int>(sizeof(T));
  // Rows of a tile of the result, and what of k is multiplied at a time: half of L0A.
  static constexpr int kM = 128, kK = 256 / static_cast<int>(sizeof(T));
  static constexpr int kN = kConvOutputs;
  static constexpr unsigned kLeftBytes = kM * kK * sizeof(T);
  static constexpr unsigned kAccBytes = kM * kN * sizeof(float);
  static constexpr unsigned kWeight1 = 2 * kConvImageBytes;           // in L1
  static constexpr unsigned kBias1 = kWeight1 + kK * kN * sizeof(T);  // in L1
  using Image = ConvTile<TileType::Mat, T, kConvImageBytes / sizeof(T), Layout::NC1HWC0,
                         ConvTileShape<-1, -1, -1, -1, kC0>>;
  using Left = TileLeftCompact<T, kM, kK, -1, -1>;
  using Right = TileRightCompact<T, kK, kN, -1, -1>;
  using Acc = TileAccCompact<float, kM, kN, -1, -1>;
  using Bias = Tile<TileType::Bias, float, 1, kN, BLayout::RowMajor, 1, -1>;

  /// The weight at k in L0B: chunks of kK rows, one behind another.
  AICORE Right WeightAt(int64_t k) const {
    const int64_t left = tiling_.k - k, cols = (tiling_.outputs + 15) / 16 * 16;
    Right right(static_cast<int>(left < kK ? left : kK), static_cast<int>(tiling_.outputs));
    TASSIGN(right, static_cast<unsigned>(k * cols * sizeof(T)));
    return right;
  }

  AICORE void LoadWeight() {
    using InL1 = Tile<TileType::Mat, T, kK, kN, BLayout::RowMajor, -1, -1, SLayout::ColMajor>;
    set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    for (int64_t k = 0; k < tiling_.k; k += kK) {
      Right right = WeightAt(k);
      InL1 tile(right.GetValidRow(), right.GetValidCol());
      TASSIGN(tile, kWeight1);
      GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, 1, -1>, Layout::DN> lines(
          weight_ + k, {right.GetValidRow(), right.GetValidCol()}, {tiling_.k});
      wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);  // the last chunk was extracted
      TLOAD(tile, lines);
      set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);  // the chunk is in L1
      TEXTRACT(right, tile, 0, 0);
      set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    }
    wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID2);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID2);  // the weight is in L0B
  }

  AICORE void LoadBias() {
    const auto outputs = static_cast<int>(tiling_.outputs);
    Tile<TileType::Mat, T, 1, kN, BLayout::RowMajor, 1, -1> row(outputs);
    Bias bias(outputs);
    TASSIGN(row, kBias1);
    TASSIGN(bias, 0);
    GlobalTensor<T, Shape<1, 1, 1, 1, -1>, Stride<1, 1, 1, 1, 1>> global(bias_, {outputs});
    TLOAD(row, global);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(bias, row);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID2);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID2);  // the bias is in its table
  }

  AICORE void SetAllFree() {
    for (int i = 0; i < 2; ++i) {
      set_flag(PIPE_MTE1, PIPE_MTE2, event_t(i));  // places for images in L1
      set_flag(PIPE_M, PIPE_MTE1, event_t(i));     // buffers in L0A
      set_flag(PIPE_FIX, PIPE_M, event_t(i));      // buffers in L0C
    }
  }

  AICORE void AwaitAllFree() {
    for (int i = 0; i < 2; ++i) {
      wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(i));
      wait_flag(PIPE_M, PIPE_MTE1, event_t(i));
      wait_flag(PIPE_FIX, PIPE_M, event_t(i));
    }
  }

  /// count images from first on in L1, as one tile.
  AICORE Image ImagesAt(int at, int count) const {
    Image images(count, static_cast<int>(tiling_.channels / kC0), static_cast<int>(tiling_.height),
                 static_cast<int>(tiling_.width));
    const int64_t of_image = tiling_.channels * tiling_.height * tiling_.width;
    TASSIGN(images, static_cast<unsigned>(image_at_ * kConvImageBytes + at * of_image * sizeof(T)));
    images.SetFmapH(static_cast<uint16_t>(tiling_.height));
    images.SetFmapW(static_cast<uint16_t>(tiling_.width));
    images.SetChannelSize(static_cast<uint16_t>(tiling_.channels));
    images.SetFilterH(static_cast<uint16_t>(tiling_.taps[0]));
    images.SetFilterW(static_cast<uint16_t>(tiling_.taps[1]));
    images.SetStrideH(static_cast<uint8_t>(tiling_.step[0]));
    images.SetStrideW(static_cast<uint8_t>(tiling_.step[1]));
    for (int side = 0; side < 4; ++side) {
      images.SetPadList(side, static_cast<uint8_t>(tiling_.padding[side < 2 ? 1 : 0]));
    }
    return images;
  }

  AICORE void ComputeGroup(int64_t first, int count) {
    Image images = ImagesAt(0, count);
    const int64_t plane = tiling_.height * tiling_.width * kC0;
    const int64_t of_image = tiling_.channels / kC0 * plane;
    GlobalTensor<T, Shape<-1, -1, -1, -1, kC0>, Stride<-1, -1, -1, kC0, 1>, Layout::NC1HWC0> global(
        images_ + first * of_image, {count, tiling_.channels / kC0, tiling_.height, tiling_.width},
        {of_image, plane, tiling_.width * kC0});
    wait_flag(PIPE_MTE1, PIPE_MTE2, event_t(image_at_));  // the place is free
    TLOAD(images, global);
    set_flag(PIPE_MTE2, PIPE_MTE1, event_t(image_at_));
    wait_flag(PIPE_MTE2, PIPE_MTE1, event_t(image_at_));  // the images are in L1
    const int64_t places = count * tiling_.places;
    for (int64_t place = 0; place < places; place += kM) {
      ComputeTile(first, place, static_cast<int>(places - place < kM ? places - place : kM));
    }
    set_flag(PIPE_MTE1, PIPE_MTE2, event_t(image_at_));
    image_at_ ^= 1;
  }

  /// rows places of the window, from place of image first on.
  AICORE void ComputeTile(int64_t first, int64_t place, int rows) {
    const auto outputs = static_cast<int>(tiling_.outputs);
    Acc acc(rows, outputs);
    TASSIGN(acc, acc_at_ * kAccBytes);
    wait_flag(PIPE_FIX, PIPE_M, event_t(acc_at_));  // the accumulator was stored
    for (int64_t k = 0; k < tiling_.k; k += kK) AddChunk(acc, place, rows, k);
    set_flag(PIPE_M, PIPE_FIX, event_t(acc_at_));
    wait_flag(PIPE_M, PIPE_FIX, event_t(acc_at_));  // the tile is computed
    GlobalTensor<T, Shape<1, 1, 1, -1, -1>, Stride<1, 1, 1, -1, 1>> global(
        output_ + (first * tiling_.places + place) * outputs, {rows, outputs}, {outputs});
    TSTORE(global, acc);
    set_flag(PIPE_FIX, PIPE_M, event_t(acc_at_));
    acc_at_ ^= 1;
  }

  AICORE void AddChunk(Acc& acc, int64_t place, int rows, int64_t k) {
    Right right = WeightAt(k);
    const int depth = right.GetValidRow();
    Left left(rows, depth);
    TASSIGN(left, left_at_ * kLeftBytes);
    wait_flag(PIPE_M, PIPE_MTE1, event_t(left_at_));  // the buffer was multiplied
    See(place, rows, k, depth);
    set_flag(PIPE_MTE1, PIPE_M, event_t(left_at_));
    wait_flag(PIPE_MTE1, PIPE_M, event_t(left_at_));  // left is in L0A
    if (k > 0) {
      TMATMUL_ACC(acc, left, right);
    } else if (bias_ != nullptr) {
      Bias bias(right.GetValidCol());
      TASSIGN(bias, 0);
      TMATMUL_BIAS(acc, left, right, bias);
    } else {
      TMATMUL(acc, left, right);
    }
    set_flag(PIPE_M, PIPE_MTE1, event_t(left_at_));
    left_at_ ^= 1;
  }

  /// What rows places see of k and on, into L0A, image after image.
  AICORE void See(int64_t place, int rows, int64_t k, int depth) {
    for (int row = 0, count = 0; row < rows; row += count) {
      const auto image = static_cast<int>((place + row) / tiling_.places);
      const int64_t at = (place + row) % tiling_.places, left = tiling_.places - at;
      count = static_cast<int>(left < rows - row ? left : rows - row);
      Left part(count, depth);
      TASSIGN(part, left_at_ * kLeftBytes + row * depth * sizeof(T));  // boxes are row after row
      Image images = ImagesAt(image, 1);
      TIMG2COL<Left, Image, SetFmatrixMode::FMATRIX_A_AUTO>(part, images, static_cast<uint16_t>(at),
                                                            static_cast<uint16_t>(k));
    }
  }

  const ConvTiling& tiling_;
  __gm__ T* output_;
  __gm__ T* images_;
  __gm__ T* weight_;
  __gm__ T* bias_;
  int image_at_ = 0, left_at_ = 0, acc_at_ = 0;
};

}  // namespace

extern "C" __global__ AICORE void my_conv_float(GM_ADDR output, GM_ADDR images, GM_ADDR weight,
                                                GM_ADDR bias, ConvTiling tiling) {
  Convolution<float>((__gm__ float*)output, (__gm__ float*)images, (__gm__ float*)weight,
                     (__gm__ float*)bias, tiling)
      .Run();
}

extern "C" __global__ AICORE void my_conv_half(GM_ADDR output, GM_ADDR images, GM_ADDR weight,
                                               GM_ADDR bias, ConvTiling tiling) {
  Convolution<half>((__gm__ half*)output, (__gm__ half*)images, (__gm__ half*)weight,
                    (__gm__ half*)bias, tiling)
      .Run();
}

extern "C" __global__ AICORE void my_conv_bfloat16(GM_ADDR output, GM_ADDR images, GM_ADDR weight,
                                                   GM_ADDR bias, ConvTiling tiling) {
  Convolution<bfloat16_t>((__gm__ bfloat16_t*)output, (__gm__ bfloat16_t*)images,
                          (__gm__ bfloat16_t*)weight, (__gm__ bfloat16_t*)bias, tiling)
      .Run();
}
