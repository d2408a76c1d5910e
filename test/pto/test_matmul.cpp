// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::Acc;
using test::At;
using test::Bias;
using test::BitsOf;
using test::ExpectContains;
using test::FaultOf;
using test::Fill;
using test::LeftNz;
using test::LeftZz;
using test::On;
using test::OnCube;
using test::Random;
using test::Right;

struct Size {
  int m, k, n;
};

/// One step of the documented order of additions.
float Step(float a, float b, float sum) { return std::fma(a, b, sum); }
int32_t Step(int8_t a, int8_t b, int32_t sum) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(a * b));
}

template <class T, class L, class R>
T Element(const L& a, const R& b, int row, int col, int depth, T sum) {
  for (int k = 0; k < depth; ++k) {
    if constexpr (std::is_same_v<T, int32_t>) {
      sum = Step(At(a, row, k), At(b, k, col), sum);
    } else {
      sum = Step(static_cast<float>(At(a, row, k)), static_cast<float>(At(b, k, col)), sum);
    }
  }
  return sum;
}

template <class T, class C, class L, class R, class StartOf>
void ExpectProduct(const C& c, const L& a, const R& b, Size size, const StartOf& start) {
  for (int row = 0; row < size.m; ++row) {
    for (int col = 0; col < size.n; ++col) {
      const T expected = Element<T>(a, b, row, col, size.k, start(row, col));
      ASSERT_EQ(BitsOf(At(c, row, col)), BitsOf(expected))
          << "row " << row << ", column " << col << ": " << At(c, row, col) << " for " << expected;
    }
  }
}

template <class TileT>
void FillRandom(const TileT& tile, uint32_t seed) {
  Random random(seed);
  if constexpr (std::is_same_v<typename TileT::DType, int8_t>) {
    Fill(tile, [&](int, int) { return static_cast<int>(random.Next() % 256) - 128; });
  } else {
    Fill(tile, [&](int, int) { return random.NextFloat() * 1.00048828125f; });
  }
}

/// Element type and order of boxes of a.
template <class T, class In, template <class, int, int> class LeftOrder>
struct Kind {
  using Sum = T;
  template <int kM, int kK>
  using L = LeftOrder<In, kM, kK>;
  template <int kK, int kN>
  using R = Right<In, kK, kN>;
  template <int kM, int kN>
  using C = Acc<T, kM, kN>;
};

template <class K>
class Tmatmul : public testing::Test {};

using Kinds = testing::Types<Kind<float, half, LeftZz>, Kind<float, half, LeftNz>,
                             Kind<float, bfloat16_t, LeftZz>, Kind<float, float, LeftNz>,
                             Kind<float, float, LeftZz>, Kind<int32_t, int8_t, LeftZz>>;
TYPED_TEST_SUITE(Tmatmul, Kinds);

template <class K, int kM, int kK, int kN>
void Check(Size size) {
  using T = typename K::Sum;
  OnCube([size] {
    typename K::template L<kM, kK> a(size.m, size.k);
    typename K::template R<kK, kN> b(size.k, size.n);
    typename K::template C<kM, kN> c(size.m, size.n);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    FillRandom(a, 1);
    FillRandom(b, 2);
    Fill(c, [](int, int) { return 77; });
    TMATMUL(c, a, b);
    ExpectProduct<T>(c, a, b, size, [](int, int) { return T{}; });
    TMATMUL_ACC(c, c, a, b);
    ExpectProduct<T>(c, a, b, size,
                     [&](int row, int col) { return Element<T>(a, b, row, col, size.k, T{}); });
  });
}

TYPED_TEST(Tmatmul, EqualsThePlainLoopBitForBit) {
  Check<TypeParam, 32, 64, 48>({32, 64, 48});
  Check<TypeParam, 32, 64, 48>({32, 32, 32});
}

TYPED_TEST(Tmatmul, TakesRaggedValidRegions) {
  for (const Size size : {Size{1, 1, 1}, Size{3, 7, 15}, Size{17, 33, 17}, Size{31, 63, 47}}) {
    Check<TypeParam, 32, 64, 48>(size);
  }
  for (const Size size : {Size{3, 7, 48}, Size{17, 33, 65}, Size{31, 63, 79}}) {
    Check<TypeParam, 32, 64, 80>(size);
  }
}

TEST(TmatmulSizes, DeepAndTallProductsKeepTheOrder) {
  using Half = Kind<float, half, LeftZz>;
  Check<Half, 144, 224, 64>({141, 213, 61});  // more than one block in rows and in depth
  Check<Kind<int32_t, int8_t, LeftNz>, 144, 448, 32>({144, 448, 32});
}

TEST(TmatmulSizes, PanelsOfAllWidthsInOneProduct) {
  Check<Kind<float, half, LeftZz>, 16, 224, 128>({5, 213, 113});
  Check<Kind<float, float, LeftNz>, 16, 96, 128>({5, 85, 113});
  Check<Kind<int32_t, int8_t, LeftZz>, 16, 96, 128>({5, 85, 113});
}

TEST(TmatmulSizes, TheLargestTilesOfL0) {
  Check<Kind<float, half, LeftZz>, 16, 2048, 16>({16, 2048, 16});
  Check<Kind<int32_t, int8_t, LeftZz>, 16, 4096, 16>({16, 4095, 16});
}

TEST(TmatmulValues, SpecialNumbersGoThroughTheSameSteps) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float values[] = {
      0.0f,     -0.0f,     kInf,     -kInf, std::numeric_limits<float>::quiet_NaN(),
      0x1p-24f, -0x1p-14f, 65504.0f, -1.0f};
  OnCube([&] {
    LeftZz<half, 16, 16> a(9, 2);
    Right<half, 16, 16> b(2, 9);
    Acc<float, 16, 16> c(9, 9);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    Fill(a, [&](int row, int k) { return k == 0 && row < 9 ? values[row] : 0.5f; });
    Fill(b, [&](int k, int col) { return k == 0 && col < 9 ? values[col] : -0.25f; });
    TMATMUL(c, a, b);
    for (int row = 0; row < 9; ++row) {
      for (int col = 0; col < 9; ++col) {
        const float expected = Element<float>(a, b, row, col, 2, 0.0f);
        const float got = At(c, row, col);
        ASSERT_TRUE(BitsOf(got) == BitsOf(expected) || (got != got && expected != expected))
            << row << " " << col;
      }
    }
  });
}

TEST(TmatmulValues, ProductsOfBfloat16BeyondTheRangeOfFloatAreFused) {
  OnCube([] {
    LeftZz<bfloat16_t, 16, 16> a(1, 2);
    Right<bfloat16_t, 16, 16> b(2, 1);
    Acc<float, 16, 16> c(1, 1);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    Fill(a, [](int, int k) { return k == 0 ? -0x1p127f : 0x1p64f; });
    Fill(b, [](int k, int) { return k == 0 ? 1.0f : 0x1p64f; });
    TMATMUL(c, a, b);  // -2^127 + 2^128: the product alone is out of range
    EXPECT_EQ(At(c, 0, 0), 0x1p127f);
  });
}

/// value with 11 bits behind the point.
float Short(float value, bool ties_even) {
  int exponent = 0;
  const float scaled = std::ldexp(std::frexp(value, &exponent), 12);
  return std::ldexp(ties_even ? std::nearbyint(scaled) : std::round(scaled), exponent - 12);
}

TEST(TmatmulValues, Tf32ShortensFloatOperandsUntilItIsReset) {
  OnCube([] {
    LeftZz<float, 16, 16> a(16, 16);
    Right<float, 16, 16> b(16, 16);
    Acc<float, 16, 16> c(16, 16);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    const auto a_value = [](int row, int k) {
      return (k % 2 ? -1 : 1) * (1 + (row * 16 + k) * 0x1p-12f);
    };
    const auto b_value = [](int k, int col) { return 3 + (k * 5 + col) * 0x1p-13f; };
    Fill(a, a_value);
    Fill(b, b_value);
    const auto expect = [&](const auto& shorten) {
      TMATMUL(c, a, b);
      for (int row = 0; row < 16; ++row) {
        for (int col = 0; col < 16; ++col) {
          float sum = 0;
          for (int k = 0; k < 16; ++k) {
            sum = std::fma(shorten(a_value(row, k)), shorten(b_value(k, col)), sum);
          }
          ASSERT_EQ(BitsOf(At(c, row, col)), BitsOf(sum)) << row << " " << col;
        }
      }
    };
    a.SetMadTF32Mode();
    expect([](float value) { return Short(value, false); });
    a.SetMadTF32Mode(RoundMode::CAST_RINT);
    expect([](float value) { return Short(value, true); });
    a.ResetMadMode();
    expect([](float value) { return value; });
    a.SetMadTF32Mode();  // ends with the block
  });
  Check<Kind<float, float, LeftZz>, 16, 16, 16>({16, 16, 16});
}

TEST(TmatmulAcc, StartsFromAnotherAccumulator) {
  OnCube([] {
    LeftZz<half, 32, 16> a(30, 15);
    Right<half, 16, 64> b(15, 63);
    Acc<float, 32, 64> c(30, 63), start(30, 63);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    TASSIGN(start, 8192);
    FillRandom(a, 3);
    FillRandom(b, 4);
    FillRandom(start, 5);
    TMATMUL_ACC(c, start, a, b);
    ExpectProduct<float>(c, a, b, {30, 15, 63}, [&](int r, int col) { return At(start, r, col); });
    Fill(c, [](int, int) { return 3.0f; });
    TMATMUL_ACC(c, a, b);
    ExpectProduct<float>(c, a, b, {30, 15, 63}, [](int, int) { return 3.0f; });
    Fill(c, [](int, int) { return 3.0f; });
    TMATMUL_ACC<AccPhase::Final>(c, a, b);
    ExpectProduct<float>(c, a, b, {30, 15, 63}, [](int, int) { return 3.0f; });
    TMATMUL<AccPhase::Partial>(c, a, b);
    ExpectProduct<float>(c, a, b, {30, 15, 63}, [](int, int) { return 0.0f; });
  });
}

TEST(TmatmulBias, StartsEachColumnFromItsBias) {
  OnCube([] {
    LeftNz<float, 16, 16> a(13, 11);
    Right<float, 16, 64> b(11, 55);
    Acc<float, 16, 64> c(13, 55);
    Bias<float, 64> bias(55);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    TASSIGN(bias, 0);
    FillRandom(a, 6);
    FillRandom(b, 7);
    FillRandom(bias, 8);
    TMATMUL_BIAS(c, a, b, bias);
    ExpectProduct<float>(c, a, b, {13, 11, 55}, [&](int, int col) { return At(bias, 0, col); });
  });
}

TEST(Tgemv, MultipliesOneRow) {
  OnCube([] {
    LeftZz<half, 1, 256> a(1, 250);
    Right<half, 256, 32> b(250, 31);
    Acc<float, 1, 32> c(1, 31);
    Bias<float, 32> bias(31);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    TASSIGN(bias, 0);
    FillRandom(a, 9);
    FillRandom(b, 10);
    FillRandom(bias, 11);
    const auto zero = [](int, int) { return 0.0f; };
    TGEMV(c, a, b);
    ExpectProduct<float>(c, a, b, {1, 250, 31}, zero);
    TGEMV_ACC(c, c, a, b);
    ExpectProduct<float>(c, a, b, {1, 250, 31},
                         [&](int, int col) { return Element<float>(a, b, 0, col, 250, 0.0f); });
    TGEMV_BIAS(c, a, b, bias);
    ExpectProduct<float>(c, a, b, {1, 250, 31}, [&](int, int col) { return At(bias, 0, col); });
    TGEMV<AccPhase::Final>(c, a, b);
    ExpectProduct<float>(c, a, b, {1, 250, 31}, zero);
  });
}

TEST(Tmatmul, LeavesWhatLiesOutsideOfTheValidRegion) {
  OnCube([] {
    LeftZz<half, 32, 16> a(18, 16);
    Right<half, 16, 32> b(16, 20);
    Acc<float, 32, 32> c(18, 20);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    TASSIGN(c, 0);
    FillRandom(a, 12);
    FillRandom(b, 13);
    Fill(c, [](int, int) { return -5.0f; });
    TMATMUL(c, a, b);
    for (int row = 0; row < 32; ++row) {
      for (int col = 0; col < 32; ++col) {
        if (row < 18 && col < 20) continue;
        ASSERT_EQ(At(c, row, col), -5.0f) << row << " " << col;
      }
    }
  });
}

TEST(TmatmulFault, NamesAnAccumulatorThatIsTooSmall) {
  ExpectContains(FaultOf(
                     [] {
                       LeftZz<half, 32, 16> a(32, 16);
                       Right<half, 16, 16> b(16, 16);
                       Acc<float, 16, 16> c(16, 16);
                       TASSIGN(a, 0);
                       TASSIGN(b, 0);
                       TASSIGN(c, 0);
                       TMATMUL(c, a, b);
                     },
                     On::kCube),
                 "TMATMUL: expected c of at least 32x16, got a Acc float tile of 16x16");
}

TEST(TmatmulFault, NamesADepthThatBHasNot) {
  ExpectContains(FaultOf(
                     [] {
                       LeftZz<half, 16, 64> a(16, 64);
                       Right<half, 32, 16> b(32, 16);
                       Acc<float, 16, 16> c(16, 16);
                       TASSIGN(a, 0);
                       TASSIGN(b, 0);
                       TASSIGN(c, 0);
                       TMATMUL(c, a, b);
                     },
                     On::kCube),
                 "TMATMUL: expected b of at least 64x16, got a Right half tile of 32x16");
}

TEST(TmatmulFault, NamesSizesBeyondTheFieldsOfTheInstruction) {
  ExpectContains(FaultOf(
                     [] {
                       LeftZz<int8_t, 16, 4096> a(16, 4096);
                       Right<int8_t, 4096, 16> b(4096, 16);
                       Acc<int32_t, 16, 16> c(16, 16);
                       TASSIGN(a, 0);
                       TASSIGN(b, 0);
                       TASSIGN(c, 0);
                       TMATMUL(c, a, b);
                     },
                     On::kCube),
                 "TMATMUL: expected m, k and n of at most 4095, got 16, 4096 and 16");
}

TEST(TmatmulFault, NamesATileWithoutAddress) {
  ExpectContains(FaultOf(
                     [] {
                       LeftZz<half, 16, 16> a(16, 16);
                       Right<half, 16, 16> b(16, 16);
                       Acc<float, 16, 16> c(16, 16);
                       TASSIGN(c, 0);
                       TASSIGN(b, 0);
                       TMATMUL(c, a, b);
                     },
                     On::kCube),
                 "TMATMUL: expected a with an address from TASSIGN, got a Left half tile of 16x16 "
                 "without one");
}

TEST(TmatmulFault, AVectorCoreHasNoOperandBuffers) {
  ExpectContains(FaultOf([] {
                   Acc<float, 16, 16> c(16, 16);
                   TASSIGN(c, 0);
                 }),
                 "TASSIGN: expected a core with L0C for the Acc float tile of 16x16, got a vector "
                 "core");
}

}  // namespace
