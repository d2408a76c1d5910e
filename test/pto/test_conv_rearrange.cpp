// SPDX-License-Identifier: Apache-2.0
// TTRANS between the layouts of images and filters.
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;

template <class T, Layout kLayout, int... kShape>
using Conv = ConvTile<TileType::Vec, T, (kShape * ...), kLayout, ConvTileShape<kShape...>>;

template <class T>
using Tmp = Tile<TileType::Vec, T, 1, 32>;

/// Bytes of UB between tiles of a test.
constexpr int kApart = 65536;

template <class T>
T Number(size_t i) {
  return static_cast<T>(static_cast<int>(i * 37 % 251) - 125);
}

/// Calls body(dst, src) after TTRANS from src, counted up, to dst, filled with 9.
template <class Dst, class Src, class Body>
void Turn(size_t elements, const Body& body) {
  using T = typename Src::DType;
  OnCore([&] {
    Dst dst;
    Src src;
    Tmp<T> tmp;
    TASSIGN(src, 0);
    TASSIGN(dst, kApart);
    TASSIGN(tmp, 2 * kApart);
    for (size_t i = 0; i < elements; ++i) src.data()[i] = Number<T>(i);
    std::fill_n(dst.data(), elements, T(9));
    TTRANS(dst, src, tmp);
    body(dst.data(), src.data());
  });
}

/// Channels of C in blocks of C0, of groups too.
template <class T, int G, int N, int C1, int H, int W, int C0, int C = C1 * C0>
void CheckChannels() {
  constexpr size_t kAll = size_t{G} * N * C1 * H * W * C0;
  const auto compare = [](const T* blocks, const T* planes) {
    for (int image = 0; image < G * N; ++image) {
      for (int c = 0; c < C1 * C0; ++c) {
        for (int at = 0; at < H * W; ++at) {
          const T block = blocks[((image * C1 + c / C0) * H * W + at) * C0 + c % C0];
          const T plane = planes[(image * C1 * C0 + c) * H * W + at];
          ASSERT_EQ(static_cast<float>(block), static_cast<float>(plane)) << image << " " << c;
        }
      }
    }
  };
  using Blocks = Conv<T, Layout::NC1HWC0, N, C1, H, W, C0>;
  using Grouped = Conv<T, Layout::GNC1HWC0, G, N, C1, H, W, C0>;
  Turn<Grouped, Conv<T, Layout::GNCHW, G, N, C, H, W>>(kAll, compare);
  if constexpr (C == C1 * C0) {
    Turn<Conv<T, Layout::GNCHW, G, N, C, H, W>, Grouped>(
        kAll, [&](const T* dst, const T* src) { compare(src, dst); });
  }
  if constexpr (G == 1) {
    Turn<Blocks, Conv<T, Layout::NCHW, N, C, H, W>>(kAll, compare);
    Turn<Conv<T, Layout::NCHW, N, C1 * C0, H, W>, Blocks>(
        kAll, [&](const T* dst, const T* src) { compare(src, dst); });
  }
}

TEST(TtransConv, SplitsAndJoinsChannels) {
  CheckChannels<float, 1, 2, 3, 2, 4, 8>();
  CheckChannels<half, 2, 3, 2, 3, 5, 16>();
  CheckChannels<int8_t, 1, 1, 2, 2, 16, 32>();
  CheckChannels<uint16_t, 3, 1, 2, 4, 4, 16>();
  CheckChannels<float, 1, 2, 2, 2, 4, 8, 13>();  // 13 channels in memory for 16
}

template <class T, int G, int N, int C1, int HW, int N1, int N0, int C0>
void CheckFilter() {
  constexpr int kPlaces = C1 * HW, kFilters = N1 * N0;
  constexpr size_t kAll = size_t{G} * kPlaces * kFilters * C0;
  const auto compare = [](bool grouped, const T* dst, const T* src) {
    for (int g = 0; g < G; ++g) {
      for (int place = 0; place < kPlaces; ++place) {
        for (int n = 0; n < kFilters; ++n) {
          for (int c = 0; c < C0; ++c) {
            const T from = src[((g * kFilters + n) * kPlaces + place) * C0 + c];
            const T expected = n < N ? from : grouped ? T(0) : T(9);
            const T got = dst[((g * kPlaces + place) * kFilters + n) * C0 + c];
            ASSERT_EQ(static_cast<float>(got), static_cast<float>(expected)) << place << " " << n;
          }
        }
      }
    }
  };
  using Filter = Conv<T, Layout::FRACTAL_Z, G * kPlaces, N1, N0, C0>;
  Turn<Filter, Conv<T, Layout::GNC1HWC0, G, N, C1, 1, HW, C0>>(
      kAll, [&](const T* dst, const T* src) { compare(true, dst, src); });
  if constexpr (G == 1) {
    Turn<Filter, Conv<T, Layout::NC1HWC0, N, C1, 1, HW, C0>>(
        kAll, [&](const T* dst, const T* src) { compare(false, dst, src); });
  }
}

TEST(TtransConv, MakesFilters) {
  CheckFilter<float, 1, 3, 2, 10, 2, 2, 4>();
  CheckFilter<half, 2, 17, 1, 5, 2, 16, 16>();
  CheckFilter<int8_t, 1, 32, 2, 3, 2, 16, 32>();
}

TEST(TtransConv, MakesFiltersOfThreeDimensions) {
  constexpr int N = 5, C = 11, D = 3, HW = 6, N1 = 2, N0 = 4, C0 = 8, C1 = 2;
  using Dst = Conv<float, Layout::FRACTAL_Z_3D, D * C1 * HW, N1, N0, C0>;
  Turn<Dst, Conv<float, Layout::NCDHW, N, C, D, 2, 3>>(
      D * C1 * HW * N1 * N0 * C0, [](const float* dst, const float* src) {
        for (int i = 0; i < D * C1 * HW * N1 * N0 * C0; ++i) {
          const int n = i / C0 % (N1 * N0), place = i / C0 / (N1 * N0);
          const int c = place / HW % C1 * C0 + i % C0, d = place / HW / C1;
          const bool exists = n < N && c < C;
          const float expected = exists ? src[((n * C + c) * D + d) * HW + place % HW] : 0.0f;
          ASSERT_EQ(dst[i], expected) << i;
        }
      });
}

template <class Dst, class Src>
std::string FaultOfTurn(int src_address = 0) {
  return FaultOf([&] {
    Dst dst;
    Src src;
    Tmp<float> tmp;
    TASSIGN(src, src_address);
    TASSIGN(dst, kApart);
    TASSIGN(tmp, 2 * kApart);
    TTRANS(dst, src, tmp);
  });
}

TEST(TtransConv, NamesWhatItRefuses) {
  using Image = Conv<float, Layout::NCHW, 1, 16, 2, 4>;
  ExpectContains((FaultOfTurn<Conv<float, Layout::NC1HWC0, 1, 3, 2, 4, 8>, Image>()),
                 "TTRANS: expected dst of 1x2x2x4x8 (from src of 1x16x2x4), got 1x3x2x4x8");
  using Filter = Conv<float, Layout::FRACTAL_Z, 8, 1, 16, 8>;
  ExpectContains((FaultOfTurn<Filter, Conv<float, Layout::NC1HWC0, 17, 1, 2, 4, 8>>()),
                 "expected dst of 8x2x16x8 (from src of 17x1x2x4x8), got 8x1x16x8");
  using Narrow = Conv<float, Layout::GNC1HWC0, 2, 1, 2, 2, 4, 4>;
  ExpectContains((FaultOfTurn<Conv<float, Layout::GNCHW, 2, 1, 8, 2, 4>, Narrow>()),
                 "expected a C0 of 8 (32 bytes) of groups, got 4");
  // 13 channels count as 16, which end behind UB.
  constexpr int kLast = 192 * 1024 - 13 * 8 * 4;
  ExpectContains((FaultOfTurn<Conv<float, Layout::NC1HWC0, 1, 2, 2, 4, 8>,
                              Conv<float, Layout::NCHW, 1, 13, 2, 4>>(kLast)),
                 "expected src of 128 elements, with those that fill it up, that ends within the "
                 "196608 bytes of UB, got end 196704");
}

}  // namespace
