// SPDX-License-Identifier: Apache-2.0
// Images and filters of convolutions: loads, img2col, and the way into products.
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::At;
using test::ExpectContains;
using test::FaultOf;
using test::On;
using test::OnCube;
using test::Random;

template <class T>
inline constexpr int kRun = 32 / sizeof(T);

template <class T>
std::vector<T> Numbers(size_t count, uint32_t seed = 1) {
  std::vector<T> numbers(count);
  Random random(seed);
  for (T& number : numbers) number = static_cast<T>(static_cast<int>(random.Next() % 200) - 100);
  return numbers;
}

/// An image [N, C1, H, W, C0] within a larger one of global memory.
template <class T, int N, int C1, int H, int W>
using Image = ConvTile<TileType::Mat, T, N * C1 * H * W * kRun<T>, Layout::NC1HWC0,
                       ConvTileShape<N, C1, H, W, kRun<T>>>;

template <class T>
void CheckLoad() {
  constexpr int kN = 2, kC1 = 3, kH = 4, kW = 5, kC0 = kRun<T>;
  constexpr int kWholeH = 7, kWholeC1 = 4;
  const std::vector<T> global = Numbers<T>(3 * kWholeC1 * kWholeH * kW * kC0);
  std::vector<T> loaded(kN * kC1 * kH * kW * kC0);
  OnCube([&] {
    Image<T, kN, kC1, kH, kW> tile;
    TASSIGN(tile, 64);
    const int row = kW * kC0, plane = kWholeH * row;
    GlobalTensor<const T, Shape<>, Stride<>, Layout::NC1HWC0> source(
        global.data(), {kN, kC1, kH, kW, kC0}, {kWholeC1 * plane, plane, row, kC0, 1});
    TLOAD(tile, source);
    std::copy_n(tile.data(), loaded.size(), loaded.begin());
  });
  size_t at = 0;
  for (int n = 0; n < kN; ++n) {
    for (int c1 = 0; c1 < kC1; ++c1) {
      for (int h = 0; h < kH; ++h) {
        for (int i = 0; i < kW * kC0; ++i, ++at) {
          const size_t from = ((n * kWholeC1 + c1) * kWholeH + h) * kW * kC0 + i;
          ASSERT_EQ(static_cast<float>(loaded[at]), static_cast<float>(global[from])) << at;
        }
      }
    }
  }
}

TEST(TloadConv, TakesPartOfAnImage) {
  CheckLoad<int8_t>();
  CheckLoad<half>();
  CheckLoad<bfloat16_t>();
  CheckLoad<float>();
}

TEST(TloadConv, TakesFiltersOfFourDimensionsAndImagesOfSix) {
  const std::vector<half> global = Numbers<half>(2 * 3 * 2 * 3 * 4 * 16);
  std::vector<half> filter(3 * 2 * 16 * 16), image(2 * 3 * 2 * 3 * 4 * 16);
  OnCube([&] {
    ConvTile<TileType::Mat, half, 0, Layout::FRACTAL_Z, ConvTileShape<-1, 2, 16, 16>> four(3);
    TASSIGN(four, 0);
    GlobalTensor<const half, Shape<1, 3, 2, 16, 16>, Stride<1536, 512, 256, 16, 1>,
                 Layout::FRACTAL_Z>
        planes(global.data());
    TLOAD(four, planes);
    std::copy_n(four.data(), filter.size(), filter.begin());
    ConvTile<TileType::Mat, half, 0, Layout::NDC1HWC0, ConvTileShape<2, 3, 2, 3, 4, 16>> six;
    TASSIGN(six, 32768);
    GlobalTensor<const half, Shape<2, 3, 2, 3, 4>, Stride<1152, 384, 192, 64, 16>, Layout::NDC1HWC0>
        volume(global.data());
    TLOAD(six, volume);
    std::copy_n(six.data(), image.size(), image.begin());
  });
  for (size_t i = 0; i < filter.size(); ++i) ASSERT_EQ(filter[i], global[i]);
  for (size_t i = 0; i < image.size(); ++i) ASSERT_EQ(image[i], global[i]);
}

TEST(TloadConv, RefusesAnotherShapeAndAnotherC0) {
  std::vector<half> global(4096);
  const auto load = [&](auto tile, std::initializer_list<int> shape) {
    return FaultOf(
        [&] {
          const int* s = shape.begin();
          GlobalTensor<half, Shape<>, Stride<>, Layout::NC1HWC0> source(
              global.data(), {s[0], s[1], s[2], s[3], s[4]}, {256, 256, 64, 16, 1});
          TASSIGN(tile, 0);
          TLOAD(tile, source);
        },
        On::kCube);
  };
  ExpectContains(load(Image<half, 1, 1, 2, 4>(), {1, 1, 2, 3, 16}),
                 "TLOAD: expected a global tensor of 1x1x2x4x16 elements (the shape of the tile), "
                 "got 1x1x2x3x16");
  using Narrow = ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, ConvTileShape<1, 1, 2, 4, 8>>;
  ExpectContains(load(Narrow(), {1, 1, 2, 4, 8}),
                 "expected bytes in the last dimension from 32 to 32, got 16");
}

TEST(TloadConv, RefusesFiltersOfFiveDimensionsForFourOfAsManyElements) {
  std::vector<half> global(2 * 3 * 3 * 32 * 16);
  const std::string fault = FaultOf(
      [&] {
        ConvTile<TileType::Mat, half, 0, Layout::FRACTAL_Z, ConvTileShape<18, 2, 16, 16>> tile;
        GlobalTensor<half, Shape<2, 3, 3, 32, 16>, Stride<4608, 1536, 512, 16, 1>,
                     Layout::FRACTAL_Z>
            source(global.data());
        TASSIGN(tile, 0);
        TLOAD(tile, source);
      },
      On::kCube);
  ExpectContains(fault, "(the shape of the tile)");
}

TEST(ConvTile, OfFourDimensionsHasTheseAlone) {
  const auto assign = [](unsigned address) {
    ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, ConvTileShape<4, 8, 8, 16>> tile;
    TASSIGN(tile, address);
  };
  OnCube([&] { assign(512 * 1024 - 8192); });
  ExpectContains(FaultOf([&] { assign(512 * 1024 - 8160); }, On::kCube), "TASSIGN: expected");
}

TEST(ConvTile, ThatGrewBeyondItsSpaceIsAFault) {
  std::vector<half> global(16);
  const std::string fault = FaultOf(
      [&] {
        ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, ConvTileShape<-1, 1, 16, 16, 16>> tile(1);
        TASSIGN(tile, 0);
        tile.SetDynamicShape(100);
        TEXPANDS(tile, half(1));
      },
      On::kCube);
  ExpectContains(fault, "TEXPANDS: expected a valid region of dst");
  ExpectContains(fault, "within the 524288 bytes of L1");
  EXPECT_EQ(
      (ConvTile<TileType::Mat, half, 0, Layout::NC1HWC0, ConvTileShape<1, 2, 3>>().GetShape(3)),
      -1);
}

TEST(TexpandsConv, FillsAll) {
  OnCube([] {
    Image<half, 2, 1, 3, 2> tile;
    TASSIGN(tile, 32);
    tile.data()[-1] = half(7);
    tile.data()[192] = half(7);
    TEXPANDS(tile, half(3));
    for (int i = 0; i < 192; ++i) ASSERT_EQ(tile.data()[i], half(3));
    EXPECT_EQ(tile.data()[-1], half(7));
    EXPECT_EQ(tile.data()[192], half(7));
  });
}

/// Sizes of a convolution.
struct Sizes {
  int channels, height, width, filter_h, filter_w, dilation_h, dilation_w, stride_h, stride_w;
  uint8_t pads[4];  // left, right, top, bottom

  int Places(int size, int pad, int filter, int dilation, int stride) const {
    return (size + pad - dilation * (filter - 1) - 1) / stride + 1;
  }
  int OutHeight() const {
    return Places(height, pads[2] + pads[3], filter_h, dilation_h, stride_h);
  }
  int OutWidth() const { return Places(width, pads[0] + pads[1], filter_w, dilation_w, stride_w); }

  template <class Conv>
  void Set(Conv& conv) const {
    conv.SetFmapH(height);
    conv.SetFmapW(width);
    conv.SetPadListArray(pads);
    conv.SetFilterH(filter_h);
    conv.SetFilterW(filter_w);
    conv.SetDilationH(dilation_h);
    conv.SetDilationW(dilation_w);
    conv.SetStrideH(stride_h);
    conv.SetStrideW(stride_w);
    conv.SetChannelSize(channels);
  }
};

/// Element of the matrix, by its definition.
template <class T>
T Expected(const Sizes& s, const std::vector<T>& image, int row, int col, T pad) {
  constexpr int kC0 = kRun<T>;
  const int c0 = col % kC0, tap_w = col / kC0 % s.filter_w;
  const int tap_h = col / kC0 / s.filter_w % s.filter_h;
  const int c1 = col / kC0 / s.filter_w / s.filter_h;
  if (row >= s.OutHeight() * s.OutWidth() || c1 * kC0 >= s.channels) return pad;
  const int y = row / s.OutWidth() * s.stride_h + tap_h * s.dilation_h - s.pads[2];
  const int x = row % s.OutWidth() * s.stride_w + tap_w * s.dilation_w - s.pads[0];
  if (y < 0 || x < 0 || y >= s.height || x >= s.width) return pad;
  return image[((c1 * s.height + y) * s.width + x) * kC0 + c0];
}

template <class T, SetFmatrixMode kMode, class Left = test::LeftZz<T, 32, 4 * kRun<T>>>
void CheckImg2col(int pos_m, int pos_k) {
  const Sizes sizes = {2 * kRun<T>, 7, 9, 2, 3, 2, 1, 1, 2, {1, 2, 1, 0}};
  const std::vector<T> image = Numbers<T>(2 * 7 * 9 * kRun<T>);
  const T pad(-5);
  constexpr int kCols = 4 * kRun<T>, kValidRows = 27, kValidCols = kCols - 3;
  OnCube([&] {
    Image<T, 1, 2, 7, 9> tile;
    TASSIGN(tile, 0);
    std::copy_n(image.begin(), image.size(), tile.data());
    sizes.Set(tile);
    tile.SetPadValue(pad);
    SETFMATRIX<decltype(tile), kMode>(tile);
    SET_IMG2COL_PADDING<decltype(tile), kMode>(tile);
    SET_IMG2COL_RPT<decltype(tile), kMode>(tile);
    Left left(kValidRows, kValidCols);
    TASSIGN(left, 0);
    TIMG2COL<Left, decltype(tile), kMode>(left, tile, pos_m, pos_k);
    for (int row = 0; row < kValidRows; ++row) {
      for (int col = 0; col < kCols; ++col) {  // up to whole 32 bytes
        const T expected = Expected(sizes, image, pos_m + row, pos_k + col, pad);
        ASSERT_EQ(static_cast<float>(At(left, row, col)), static_cast<float>(expected))
            << row << " " << col;
      }
    }
  });
}

TEST(Timg2col, EqualsTheDefinition) {
  CheckImg2col<int8_t, SetFmatrixMode::FMATRIX_A_MANUAL>(0, 0);
  CheckImg2col<half, SetFmatrixMode::FMATRIX_B_MANUAL>(0, 16);
  CheckImg2col<bfloat16_t, SetFmatrixMode::FMATRIX_A_AUTO>(3, 32);
  CheckImg2col<float, SetFmatrixMode::FMATRIX_B_AUTO>(16, 72);  // behind the last row and column
  using Wide = Tile<TileType::Left, float, 32, 32, BLayout::RowMajor, -1, -1, SLayout::RowMajor,
                    1024>;  // rows of boxes take 64 bytes
  CheckImg2col<float, SetFmatrixMode::FMATRIX_A_AUTO, Wide>(3, 8);
}

/// The sentence of TIMG2COL with sizes that change has changed.
template <class Change>
std::string Img2colFault(const Change& change, int pos_k = 0) {
  return FaultOf(
      [&] {
        Image<half, 1, 1, 4, 4> tile;
        TASSIGN(tile, 0);
        const Sizes sizes = {16, 4, 4, 2, 2, 1, 1, 1, 1, {0, 0, 0, 0}};
        sizes.Set(tile);
        change(tile);
        test::LeftZz<half, 16, 16> left(16, 16);
        TASSIGN(left, 0);
        TIMG2COL<decltype(left), decltype(tile), SetFmatrixMode::FMATRIX_A_AUTO>(left, tile, 0,
                                                                                 pos_k);
      },
      On::kCube);
}

TEST(Timg2col, NamesWhatItRefuses) {
  using Tile = Image<half, 1, 1, 4, 4>;
  ExpectContains(
      Img2colFault([](Tile& tile) { tile.SetTranspose(true); }),
      "TIMG2COL: expected a src without SetTranspose (not emulated), got a transposed one");
  ExpectContains(Img2colFault([](Tile& tile) { tile.SetRepeatTime(2); }),
                 "expected a repeat time of at most 1 (more is not emulated), got 2");
  ExpectContains(Img2colFault([](Tile& tile) { tile.SetFilterH(5); }),
                 "expected a filter within the padded image of 4x4, and strides of at least 1, got "
                 "5x2, strides 1 and 1");
  ExpectContains(Img2colFault([](Tile& tile) { tile.SetStrideW(0); }), "strides 1 and 0");
  ExpectContains(Img2colFault([](Tile& tile) { tile.SetFmapH(5); }),
                 "expected an image within the 256 elements of src, got 16 channels of 5x4");
  ExpectContains(Img2colFault([](Tile&) {}, 8),
                 "expected posK of a multiple of 16 (32 bytes), got 8");
  const std::string unset = FaultOf(
      [&] {
        Tile tile;
        test::LeftZz<half, 16, 16> left(16, 16);
        TASSIGN(tile, 0);
        TASSIGN(left, 0);
        TIMG2COL(left, tile);
      },
      On::kCube);
  ExpectContains(unset, "TIMG2COL: expected SETFMATRIX before, or an automatic mode, got no image");
}

template <class T>
void CheckFilter() {
  constexpr int kPlaces = 6, kN = 32, kC0 = kRun<T>;
  const std::vector<T> filter = Numbers<T>(kPlaces * kN * kC0);
  OnCube([&] {
    ConvTile<TileType::Mat, T, 0, Layout::FRACTAL_Z, ConvTileShape<1, 2, 3, kN, kC0>> five;
    ConvTile<TileType::Mat, T, 0, Layout::FRACTAL_Z_3D, ConvTileShape<kPlaces, kN / 16, 16, kC0>>
        four;
    TASSIGN(five, 0);
    TASSIGN(four, 0);
    std::copy_n(filter.begin(), filter.size(), five.data());
    test::Right<T, kPlaces * kC0, kN> whole(kPlaces * kC0, kN);
    test::Right<T, 2 * kC0, 16> part(2 * kC0 - 1, 15);
    TASSIGN(whole, 0);
    TASSIGN(part, 32768);
    TMOV(whole, five);
    TEXTRACT(part, four, 3 * kC0, 16);
    const auto expected = [&](int k, int n) { return filter[(k / kC0 * kN + n) * kC0 + k % kC0]; };
    for (int k = 0; k < kPlaces * kC0; ++k) {
      for (int n = 0; n < kN; ++n) {
        ASSERT_EQ(static_cast<float>(At(whole, k, n)), static_cast<float>(expected(k, n)));
        if (k >= 2 * kC0 || n >= 16) continue;
        ASSERT_EQ(static_cast<float>(At(part, k, n)),
                  static_cast<float>(expected(3 * kC0 + k, 16 + n)));
      }
    }
  });
}

TEST(TmovConv, TakesFiltersAsMatrices) {
  CheckFilter<int8_t>();
  CheckFilter<half>();
  CheckFilter<float>();
}

TEST(TmovConv, RefusesWhatLiesOutsideOfTheFilter) {
  const std::string fault = FaultOf(
      [&] {
        ConvTile<TileType::Mat, half, 0, Layout::FRACTAL_Z, ConvTileShape<2, 1, 16, 16>> filter;
        test::Right<half, 32, 16> right(32, 16);
        TASSIGN(filter, 0);
        TASSIGN(right, 0);
        TEXTRACT(right, filter, 16, 0);
      },
      On::kCube);
  ExpectContains(
      fault,
      "TEXTRACT: expected 32x16 elements of the Right half tile of 32x16 within a filter "
      "of 32x16, whose C0 has 32 bytes and whose N is a multiple of 16, got row 16, "
      "column 0 of 2x1x16x16");
}

/// Operands larger than their space hold what their valid region names.
TEST(Tassign, TakesOperandsLargerThanTheirSpaceAsCompact) {
  OnCube([] {
    test::LeftZz<half, 512, 128> left(20, 128);
    TASSIGN(left, 0);
    EXPECT_EQ(pto::detail::ExtentOf(left).rows, 32u);
    EXPECT_EQ(pto::detail::ExtentOf(left).cols, 128u);
  });
}

}  // namespace
