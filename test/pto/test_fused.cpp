// SPDX-License-Identifier: Apache-2.0
// Several operations in one instruction, against plain loops.
#include <cmath>
#include <optional>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::Check;
using test::ExpectContains;
using test::ExpectEach;
using test::FaultOn;
using test::kA3;
using test::kA5;
using test::OnCore;
using test::Samples;
using test::Through;
using test::VecTile;

float Rectified(float value) { return value > 0 || std::isnan(value) ? value : 0.0f; }

/// op on dst, which starts as src0.
template <class Op>
auto OnCopy(const Op& op) {
  return [&op](auto& c, auto& a, auto& b) {
    std::memcpy(static_cast<void*>(c.data()), a.data(), a.GetValidCol() * sizeof(*c.data()));
    op(c, a, b);
  };
}

/// Each step rounded to T, or float at once.
template <class T>
T PlainMultiplyAdd(T a, T b, T c, bool a5) {
  if constexpr (std::is_same_v<T, float>) {
    if (a5) return std::fma(a, b, c);
  }
  const volatile T product = static_cast<T>(static_cast<float>(a) * static_cast<float>(b));
  return static_cast<T>(static_cast<float>(product) + static_cast<float>(c));
}

template <class T>
void CheckMultiplications(bool a5) {
  Check<T>(
      OnCopy([](auto& c, auto& a, auto& b) { TMULADDDST(c, a, b); }),
      [&](T a, T b) { return PlainMultiplyAdd(a, b, a, a5); }, a5);
  Check<T>(
      OnCopy([](auto& c, auto& a, auto& b) { TFUSEDMULADD(c, a, b); }),
      [&](T a, T b) { return PlainMultiplyAdd(a, a, b, a5); }, a5);
  Check<T>(
      OnCopy([](auto& c, auto& a, auto& b) { TFUSEDMULADDRELU(c, a, b); }),
      [&](T a, T b) { return static_cast<T>(Rectified(PlainMultiplyAdd(a, a, b, a5))); }, a5);
}

TEST(MultiplyAdd, RoundsProductAndSum) {
  CheckMultiplications<float>(test::kA3);
  CheckMultiplications<half>(test::kA3);
  CheckMultiplications<half>(kA5);
}

TEST(MultiplyAdd, OfFloatsIsRoundedOnceOnA5) { CheckMultiplications<float>(kA5); }

/// 1 + 2^-10 scaled by itself loses 2^-20 where the product is rounded to half.
TEST(Taxpy, KeepsTheProductOnA5) {
  const auto sum = [](bool is_a5) {
    float result = 0.0f;
    OnCore([&] {
      std::optional<test::AsA5> chip;
      if (is_a5) chip.emplace();
      VecTile<half, 1, 16> dst(1, 16), src(1, 16);
      TASSIGN(dst, 0);
      TASSIGN(src, 64);
      TEXPANDS(dst, static_cast<half>(-1.001953125f));
      TEXPANDS(src, static_cast<half>(1.0009765625f));
      TAXPY(dst, src, static_cast<half>(1.0009765625f));
      result = static_cast<float>(dst.GetValue(0));
    });
    return result;
  };
  EXPECT_EQ(sum(kA3), 0.0f);
  EXPECT_EQ(sum(kA5), 0x1p-20f);
}

template <class T>
void CheckRelus() {
  Check<T>([](auto& c, auto& a, auto& b) { TPRELU(c, a, b, c); },
           [](T a, T b) {
             const float x = a, slope = b;
             return static_cast<T>(x > 0 ? x : x * slope);
           });
  Check<T>([](auto& c, auto& a, auto& b) { TSUBRELU(c, a, b); },
           [](T a, T b) {
             return static_cast<T>(Rectified(static_cast<float>(a) - static_cast<float>(b)));
           });
}

TEST(Relus, EqualThePlainLoop) {
  CheckRelus<float>();
  CheckRelus<half>();
}

const auto kAddTo = [](auto& c, auto& a, auto& b) { TADDRELUCONV(c, a, b); };
const auto kSubTo = [](auto& c, auto& a, auto& b) { TSUBRELUCONV(c, a, b); };

half ToHalf(float value) {
  return static_cast<half>(std::isnan(value) ? value : std::min(Rectified(value), 65504.0f));
}

int8_t ToInt8(float value) {
  return static_cast<int8_t>(
      std::isnan(value) ? 0.0f : std::min(std::nearbyint(Rectified(value)), 127.0f));
}

TEST(ReluToHalf, SaturatesAndRoundsOnce) {
  auto x = Samples<float>(5'003, 1, 0), y = Samples<float>(5'003, 2, 1);
  for (size_t i = 2'000; i < x.size(); ++i) {  // random bits are mostly beyond half
    x[i] = std::remainder(x[i], 70000.0f);
    y[i] = std::remainder(y[i], 10.0f);
  }
  ExpectEach(Through<half>(x, y, kAddTo), x, y, [](float a, float b) { return ToHalf(a + b); });
  ExpectEach(Through<half>(x, y, kSubTo), x, y, [](float a, float b) { return ToHalf(a - b); });
}

TEST(ReluToInt8, RoundsTheSumOfHalvesAndThenToAnInteger) {
  auto x = Samples<half>(5'003, 1, 0), y = Samples<half>(5'003, 2, 1);
  for (size_t i = 1'000; i < x.size(); ++i) {
    x[i] = static_cast<half>(std::remainder(static_cast<float>(x[i]), 140.0f));
    y[i] = static_cast<half>(std::remainder(static_cast<float>(y[i]), 60.0f));
  }
  ExpectEach(Through<int8_t>(x, y, kAddTo), x, y,
             [](float a, float b) { return ToInt8(static_cast<float>(static_cast<half>(a + b))); });
  ExpectEach(Through<int8_t>(x, y, kSubTo), x, y,
             [](float a, float b) { return ToInt8(static_cast<float>(static_cast<half>(a - b))); });
}

TEST(ReluToInt8, WrapsInInt16) {
  auto x = Samples<int16_t>(5'003, 1, 0), y = Samples<int16_t>(5'003, 2, 1);
  for (size_t i = 1'000; i < x.size(); ++i) x[i] %= 200;
  for (size_t i = 1'000; i < x.size(); i += 2) y[i] %= 200;
  ExpectEach(Through<int8_t>(x, y, kAddTo), x, y,
             [](int a, int b) { return ToInt8(static_cast<int16_t>(a + b)); });
  ExpectEach(Through<int8_t>(x, y, kSubTo), x, y,
             [](int a, int b) { return ToInt8(static_cast<int16_t>(a - b)); });
}

TEST(Tadddeqrelu, ScalesInThreeSteps) {
  const auto x = Samples<int32_t>(5'003, 1, 0), y = Samples<int32_t>(5'003, 2, 1);
  for (const float scale : {0.5f, -0.0625f, 3e-6f, 1e30f, static_cast<float>(INFINITY)}) {
    const auto z =
        Through<half>(x, y, [&](auto& c, auto& a, auto& b) { TADDDEQRELU(c, a, b, scale, a); });
    ExpectEach(z, x, y, [&](int32_t a, int32_t b) {
      const auto sum = static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
      const volatile float down = static_cast<float>(sum) / 131072;
      const volatile float scaled = down * scale;
      return ToHalf(scaled * 131072);
    });
  }
}

template <class T>
void CheckThreeSources(bool a5 = test::kA3) {
  using W = std::conditional_t<std::is_integral_v<T>, __int128, float>;
  const auto wide = [](T value) { return static_cast<W>(value); };
  const T scalar = static_cast<T>(3);
  Check<T>([](auto& c, auto& a, auto& b) { TADDC(c, a, b, a); },
           [&](T a, T b) { return static_cast<T>(wide(a) + wide(b) + wide(a)); }, a5);
  Check<T>([](auto& c, auto& a, auto& b) { TSUBC(c, a, b, b); },
           [&](T a, T b) { return static_cast<T>(wide(a) - wide(b) + wide(b)); }, a5);
  Check<T>([&](auto& c, auto& a, auto& b) { TADDSC(c, a, scalar, b); },
           [&](T a, T b) { return static_cast<T>(wide(a) + wide(scalar) + wide(b)); }, a5);
  Check<T>([&](auto& c, auto& a, auto& b) { TSUBSC(c, a, scalar, b); },
           [&](T a, T b) { return static_cast<T>(wide(a) - wide(scalar) + wide(b)); }, a5);
}

TEST(ThreeSources, AreAddedFromLeftToRight) {
  CheckThreeSources<float>();
  CheckThreeSources<half>();
  CheckThreeSources<int16_t>();
  CheckThreeSources<int32_t>();
  CheckThreeSources<bfloat16_t>(kA5);
  CheckThreeSources<uint8_t>(kA5);
}

TEST(Fused, NamesATypeThatTheChipRefuses) {
  const std::string floats = ": expected elements of type half or float on Ascend910B1, got ";
  ExpectContains(FaultOn<int32_t>([](auto& c, auto& a, auto& b) { TSUBRELU(c, a, b); }),
                 "TSUBRELU" + floats + "int32");
  ExpectContains(FaultOn<bfloat16_t>([](auto& c, auto& a, auto& b) { TMULADDDST(c, a, b); }),
                 "TMULADDDST" + floats + "bfloat16");
  ExpectContains(FaultOn<int64_t>([](auto& c, auto& a, auto& b) { TADDC(c, a, b, b); }),
                 "TADDC: expected elements of type int16, int32, half or float on Ascend910B1");
}

TEST(Fused, NamesTheOperandWithTheWrongShape) {
  const auto fault = [](auto&& op) {
    return test::FaultOf([&] {
      test::VecTile<float, 8, 32> dst(8, 32), good(8, 32), bad(8, 31);
      test::VecTile<half, 8, 32> narrow(8, 32);
      TASSIGN(dst, 0);
      TASSIGN(good, 1024);
      TASSIGN(bad, 2048);
      TASSIGN(narrow, 4096);
      op(dst, good, bad, narrow);
    });
  };
  ExpectContains(fault([](auto& c, auto& a, auto& bad, auto&) { TADDC(c, a, a, bad); }),
                 "TADDC: expected src2 of valid shape 8x32 (that of dst), got 8x31");
  ExpectContains(
      fault([](auto&, auto& a, auto& bad, auto& narrow) { TADDRELUCONV(narrow, a, bad); }),
      "TADDRELUCONV: expected src1 of valid shape 8x32 (that of dst), got 8x31");
}

}  // namespace
