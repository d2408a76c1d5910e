// SPDX-License-Identifier: Apache-2.0
// Products of operands of 8 and 4 bits, with and without scales.
#include <cmath>
#include <vector>

#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::AsA5;
using test::At;
using test::BitsOf;
using test::ExpectContains;
using test::FaultOf;
using test::On;
using test::OnCube;
using test::Random;

constexpr int kM = 20, kK = 128, kN = 24;  // valid; tiles have whole boxes
constexpr int kRows = 32, kCols = 64;

template <class T>
using LeftTile = Tile<TileType::Left, T, kRows, kK, BLayout::ColMajor, kM, kK, SLayout::RowMajor>;
template <class T>
using RightTile = TileRight<T, kK, kCols, kK, kN>;
using LeftScales = TileLeftScale<float8_e8m0_t, kRows, kK / 32, kM, kK / 32>;
using RightScales = TileRightScale<float8_e8m0_t, kK / 32, kCols, kK / 32, kN>;
template <class T>
using MatLeft = Tile<TileType::Mat, T, kRows, kK, BLayout::ColMajor, kM, kK, SLayout::RowMajor>;
template <class T>
using MatRight = Tile<TileType::Mat, T, kK, kCols, BLayout::ColMajor, kK, kN, SLayout::RowMajor>;
using MatScalesA = Tile<TileType::Mat, float8_e8m0_t, kRows, kK / 32, BLayout::RowMajor, kM,
                        kK / 32, SLayout::RowMajor, 32>;
using MatScalesB = Tile<TileType::Mat, float8_e8m0_t, kK / 32, kCols, BLayout::ColMajor, kK / 32,
                        kN, SLayout::ColMajor, 32>;

template <class T>
inline constexpr bool kIsPair =
    std::is_same_v<T, float4_e2m1x2_t> || std::is_same_v<T, float4_e1m2x2_t>;

/// A matrix of random codes, packed along its rows.
template <class T>
struct Codes {
  int cols;
  std::vector<T> bytes;

  Codes(int rows, int columns, uint32_t seed) : cols(columns) {
    Random random(seed);
    bytes.resize(static_cast<size_t>(rows) * cols / (kIsPair<T> ? 2 : 1));
    for (T& byte : bytes) {
      auto code = static_cast<uint8_t>(random.Next());
      if (!kIsPair<T> && (code & 0x78) == 0x78) code = static_cast<uint8_t>(code ^ 0x40);
      std::memcpy(static_cast<void*>(&byte), &code, 1);
    }
  }
  float At(int row, int col) const {
    const size_t at = static_cast<size_t>(row) * cols + col;
    if constexpr (kIsPair<T>) {
      return bytes[at / 2].Get(at % 2);
    } else {
      return static_cast<float>(bytes[at]);
    }
  }
};

std::vector<float8_e8m0_t> ScaleCodes(size_t count, uint32_t seed) {
  std::vector<float8_e8m0_t> scales(count);
  Random random(seed);
  for (auto& scale : scales) scale = {static_cast<uint8_t>(120 + random.Next() % 14)};
  return scales;
}

/// What a load from plain matrices of scales makes of layouts ND (or ZZ, NN by hand).
template <class A, class B, bool kBias, bool kGemv>
void CheckMx() {
  const Codes<A> a(kM, kK, 1);
  const Codes<B> b(kK, kN, 2);
  const auto a_scales = ScaleCodes(kRows * kK / 32, 3);  // [row][k]
  const auto b_scales = ScaleCodes(kCols * kK / 32, 4);  // [k / 2][column][2]
  std::vector<float> bias(64), result(kM * kN);
  for (int n = 0; n < 64; ++n) bias[n] = n * 0.5f;
  OnCube([&] {
    const AsA5 chip;
    MatLeft<A> a_mat;
    MatRight<B> b_mat;
    MatScalesA a_scale_mat;
    MatScalesB b_scale_mat;
    TASSIGN(a_mat, 0);
    TASSIGN(b_mat, 16384);
    TASSIGN(a_scale_mat, 65536);
    TASSIGN(b_scale_mat, 66560);
    GlobalTensor<const A, Shape<1, 1, 1, kM, kK>, Stride<kM * kK, kM * kK, kM * kK, kK, 1>>
        a_global(a.bytes.data());
    GlobalTensor<const B, Shape<1, 1, 1, kK, kN>, Stride<kK * kN, kK * kN, kK * kN, kN, 1>>
        b_global(b.bytes.data());
    GlobalTensor<const float8_e8m0_t, TileShape2D<float8_e8m0_t, kM, kK / 32, Layout::MX_A_ND>,
                 BaseShape2D<float8_e8m0_t, kRows, kK / 32, Layout::MX_A_ND>, Layout::MX_A_ND>
        a_scale_global(a_scales.data());
    GlobalTensor<const float8_e8m0_t, TileShape2D<float8_e8m0_t, kK / 32, kN, Layout::MX_B_ND>,
                 BaseShape2D<float8_e8m0_t, kK / 32, kCols, Layout::MX_B_ND>, Layout::MX_B_ND>
        b_scale_global(b_scales.data());
    TLOAD(a_mat, a_global);
    TLOAD(b_mat, b_global);
    TLOAD(a_scale_mat, a_scale_global);
    TLOAD(b_scale_mat, b_scale_global);
    LeftTile<A> left;
    RightTile<B> right;
    LeftScales left_scales;
    RightScales right_scales;
    Acc<float, kRows, kCols> acc(kM, kN);
    Tile<TileType::Bias, float, 1, 64> start;
    TASSIGN(left, 1024);
    TASSIGN(right, 2048);
    TGET_SCALE_ADDR(left_scales, left);
    TASSIGN(right_scales, GetScaleAddr(right.data()));
    TASSIGN(acc, 0);
    TASSIGN(start, 0);
    std::copy_n(bias.data(), 64, start.data());
    TMOV(left, a_mat);
    TMOV(right, b_mat);
    TMOV(left_scales, a_scale_mat);
    TMOV(right_scales, b_scale_mat);
    if constexpr (kGemv) {
      TGEMV_MX(acc, left, left_scales, right, right_scales);
      TGEMV_MX<AccPhase::Final>(acc, acc, left, left_scales, right, right_scales);
    } else if constexpr (kBias) {
      TMATMUL_MX<AccPhase::Partial>(acc, left, left_scales, right, right_scales, start);
    } else {
      TMATMUL_MX(acc, left, left_scales, right, right_scales);
      TMATMUL_MX(acc, acc, left, left_scales, right, right_scales);
    }
    for (int m = 0; m < kM; ++m) {
      for (int n = 0; n < kN; ++n) result[m * kN + n] = At(acc, m, n);
    }
  });
  for (int m = 0; m < (kGemv ? 1 : kM); ++m) {
    for (int n = 0; n < kN; ++n) {
      float sum = kBias ? bias[n] : 0.0f;
      for (int twice = 0; twice < (kBias ? 1 : 2); ++twice) {
        for (int k = 0; k < kK; ++k) {
          const float x = a.At(m, k) * static_cast<float>(a_scales[m * kK / 32 + k / 32]);
          const int scale_at = (k / 64 * kCols + n) * 2 + k / 32 % 2;
          const float y = b.At(k, n) * static_cast<float>(b_scales[scale_at]);
          sum = std::fma(x, y, sum);
        }
      }
      ASSERT_EQ(BitsOf(result[m * kN + n]), BitsOf(sum)) << m << " " << n;
    }
  }
}

TEST(TmatmulMx, ScalesEach32ElementsOfTheDepth) {
  CheckMx<float8_e4m3_t, float8_e4m3_t, false, false>();
  CheckMx<float8_e4m3_t, float8_e5m2_t, true, false>();
  CheckMx<float8_e5m2_t, float8_e4m3_t, false, true>();
  CheckMx<float4_e2m1x2_t, float4_e2m1x2_t, false, false>();
  CheckMx<float4_e1m2x2_t, float4_e2m1x2_t, true, false>();
  CheckMx<float4_e2m1x2_t, float4_e1m2x2_t, false, true>();
}

template <class A, class B>
void CheckPlain() {
  const Codes<A> a(kRows, kK, 5);
  const Codes<B> b(kK, kCols, 6);
  OnCube([&] {
    const AsA5 chip;
    LeftTile<A> left;
    RightTile<B> right;
    Acc<float, kRows, kCols> acc(kM, kN);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(acc, 0);
    for (int k = 0; k < kK; ++k) {
      for (int m = 0; m < kRows; ++m) At(left, m, k) = a.bytes[m * kK + k];
      for (int n = 0; n < kCols; ++n) At(right, k, n) = b.bytes[k * kCols + n];
    }
    TMATMUL(acc, left, right);
    for (int m = 0; m < kM; ++m) {
      for (int n = 0; n < kN; ++n) {
        float sum = 0;
        for (int k = 0; k < kK; ++k) sum = std::fma(a.At(m, k), b.At(k, n), sum);
        ASSERT_EQ(BitsOf(At(acc, m, n)), BitsOf(sum)) << m << " " << n;
      }
    }
  });
}

TEST(Tmatmul, TakesFloatsOf8BitsOnA5) {
  CheckPlain<float8_e4m3_t, float8_e4m3_t>();
  CheckPlain<float8_e5m2_t, float8_e4m3_t>();
  CheckPlain<hifloat8_t, hifloat8_t>();
}

/// Boxes of scales in memory land as they are, from each layout of global memory.
template <Layout kLayout, bool kIsA>
void CheckScaleLoad() {
  const auto scales = ScaleCodes(kRows * 4, 7);
  OnCube([&] {
    const AsA5 chip;
    using ATile = Tile<TileType::Mat, float8_e8m0_t, kRows, 4, BLayout::RowMajor, kRows, 4,
                       SLayout::RowMajor, 32>;
    using BTile = Tile<TileType::Mat, float8_e8m0_t, 4, kRows, BLayout::ColMajor, 4, kRows,
                       SLayout::ColMajor, 32>;
    std::conditional_t<kIsA, ATile, BTile> tile;
    constexpr int kDim0 = kIsA ? kRows : 4, kDim1 = kIsA ? 4 : kRows;
    GlobalTensor<const float8_e8m0_t, TileShape2D<float8_e8m0_t, kDim0, kDim1, kLayout>,
                 BaseShape2D<float8_e8m0_t, kDim0, kDim1, kLayout>, kLayout>
        global(scales.data());
    TASSIGN(tile, 0);
    TLOAD(tile, global);
    for (int line = 0; line < kRows; ++line) {
      for (int at = 0; at < 4; ++at) {
        const int in_boxes = line / 16 * 64 + at / 2 * 32 + line % 16 * 2 + at % 2;
        const int in_lines = line * 4 + at, in_pairs = (at / 2 * kRows + line) * 2 + at % 2;
        const bool boxed = kLayout == Layout::MX_A_ZZ || kLayout == Layout::MX_B_NN;
        const bool lines = kLayout == Layout::MX_A_ND || kLayout == Layout::MX_B_DN;
        const int from = boxed ? in_boxes : lines ? in_lines : in_pairs;
        ASSERT_EQ(tile.data()[in_boxes].bits, scales[from].bits) << line << " " << at;
      }
    }
  });
}

TEST(TloadScales, TakesAllLayouts) {
  CheckScaleLoad<Layout::MX_A_ZZ, true>();
  CheckScaleLoad<Layout::MX_A_ND, true>();
  CheckScaleLoad<Layout::MX_A_DN, true>();
  CheckScaleLoad<Layout::MX_B_NN, false>();
  CheckScaleLoad<Layout::MX_B_ND, false>();
  CheckScaleLoad<Layout::MX_B_DN, false>();
}

TEST(TloadScales, NeedsA5UnlessChecksAreOff) {
  using Scales =
      GlobalTensor<const float8_e8m0_t, TileShape2D<float8_e8m0_t, kRows, 4, Layout::MX_A_ND>,
                   BaseShape2D<float8_e8m0_t, kRows, 4, Layout::MX_A_ND>, Layout::MX_A_ND>;
  const auto scales = ScaleCodes(kRows * 4, 7);
  const auto load = [&](bool checks) {
    return [&scales, checks] {
      Tile<TileType::Mat, float8_e8m0_t, kRows, 4, BLayout::RowMajor, kRows, 4, SLayout::RowMajor,
           32>
          tile;
      Scales global(scales.data());
      TASSIGN(tile, 0);
      npu::current_core->check_limits = checks;
      TLOAD(tile, global);
      npu::current_core->check_limits = true;
      EXPECT_EQ(tile.data()[2].bits, scales[4].bits);
    };
  };
  ExpectContains(FaultOf(load(true), On::kCube), "TLOAD: expected a chip with scaled products");
  OnCube(load(false));
}

TEST(TmatmulMx, NamesWhatItRefuses) {
  const std::string turned = FaultOf(
      [] {
        const AsA5 chip;
        using Pairs = float4_e2m1x2_t;
        Tile<TileType::Mat, Pairs, 64, 64, BLayout::RowMajor, 64, 64, SLayout::ColMajor> mat;
        Tile<TileType::Left, Pairs, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor, 512,
             PadValue::Null, CompactMode::Normal>
            left;
        TASSIGN(mat, 0);
        TASSIGN(left, 0);
        TMOV(left, mat);
      },
      On::kCube);
  ExpectContains(turned,
                 "TMOV: expected dst not compact, where elements of 4 bits turn from rows to "
                 "columns, got a compact Left");
  const std::string address = FaultOf(
      [] {
        const AsA5 chip;
        LeftTile<float8_e4m3_t> left;
        RightTile<float8_e4m3_t> right;
        LeftScales left_scales;
        RightScales right_scales;
        Acc<float, kRows, kCols> acc(kM, kN);
        TASSIGN(left, 1024);
        TASSIGN(right, 0);
        TASSIGN(left_scales, 0);
        TASSIGN(right_scales, 0);
        TASSIGN(acc, 0);
        TMATMUL_MX(acc, left, left_scales, right, right_scales);
      },
      On::kCube);
  ExpectContains(address,
                 "TMATMUL_MX: expected a_scale at address 64 (1/16 of that of the operand),"
                 " got 0");
  const std::string end = FaultOf(
      [] {
        const AsA5 chip;
        LeftTile<float8_e4m3_t> left;
        RightTile<float8_e4m3_t> right;
        LeftScales left_scales;
        RightScales right_scales;
        TileAcc<float, 512, 256, 16, 16> window;
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        TASSIGN(left_scales, 0);
        TASSIGN(right_scales, 0);
        TASSIGN(window, 255 * 1024);
        TMATMUL_MX(window, left, left_scales, right, right_scales);
      },
      On::kCube);
  ExpectContains(end,
                 "TMATMUL_MX: expected 20x24 elements of c, a Acc float tile of 512x256, that end "
                 "within the 262144 bytes of L0C");
  const std::string a3 = FaultOf(
      [] {
        LeftScales scales;
        TASSIGN(scales, 0);
      },
      On::kCube);
  ExpectContains(a3, "to end within the 0 bytes of L0A scales on Ascend910B1");
  const std::string types = FaultOf(
      [] {
        LeftTile<hifloat8_t> left;
        RightTile<hifloat8_t> right;
        Acc<float, kRows, kCols> acc(kM, kN);
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        TASSIGN(acc, 0);
        TMATMUL(acc, left, right);
      },
      On::kCube);
  ExpectContains(types, "TMATMUL: expected elements of type");
}

}  // namespace
