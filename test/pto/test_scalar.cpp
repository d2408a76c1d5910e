// SPDX-License-Identifier: Apache-2.0
// Instructions on a tile and a scalar against plain loops.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectEach;
using test::FaultOn;
using test::kA3;
using test::kA5;
using test::Rounded;
using test::Samples;
using test::Through;

/// Calls op(c, a, scalar) on samples of T for each of scalars and compares with plain(x, scalar).
template <class T, class Op, class Plain>
void CheckBy(const std::vector<T>& scalars, const Op& op, const Plain& plain, bool a5 = kA3) {
  const auto x = Samples<T>(3'001, 5);
  for (const T scalar : scalars) {
    const auto z = Through<T>(x, [&](auto& c, const auto& a) { op(c, a, scalar); }, a5);
    ExpectEach(z, x, std::vector<T>(x.size(), scalar), plain);
  }
}

template <class T, class Op, class Plain>
void CheckFloatBy(const Op& op, const Plain& plain, bool a5 = kA3) {
  CheckBy<T>(
      {T(0.3f), T(-0.0f), T(-3.0f), T(INFINITY), T(std::nanf(""))}, op,
      [&](T a, T b) { return Rounded<T>(plain(static_cast<double>(a), static_cast<double>(b))); },
      a5);
}

template <class T, class Op, class Plain>
void CheckIntBy(const Op& op, const Plain& plain, bool a5 = kA3) {
  CheckBy<T>(
      {0, 1, T(-1), 5, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()}, op,
      [&](T a, T b) { return static_cast<T>(plain(__int128{a}, __int128{b})); }, a5);
}

template <class Op, class Plain>
void CheckArithmetic(const Op& op, const Plain& plain) {
  CheckFloatBy<float>(op, plain);
  CheckFloatBy<half>(op, plain);
  CheckIntBy<int16_t>(op, plain);
  CheckIntBy<int32_t>(op, plain);
  CheckFloatBy<bfloat16_t>(op, plain, kA5);
}

#define WITH_SCALAR(NAME) [](auto& c, const auto& a, auto s) { NAME(c, a, s); }

TEST(Tadds, EqualsThePlainLoop) { CheckArithmetic(WITH_SCALAR(TADDS), test::kSum); }
TEST(Tsubs, EqualsThePlainLoop) { CheckArithmetic(WITH_SCALAR(TSUBS), test::kDifference); }
TEST(Tmuls, EqualsThePlainLoop) { CheckArithmetic(WITH_SCALAR(TMULS), test::kProduct); }
TEST(Tmaxs, EqualsThePlainLoop) { CheckArithmetic(WITH_SCALAR(TMAXS), test::kGreater); }
TEST(Tmins, EqualsThePlainLoop) { CheckArithmetic(WITH_SCALAR(TMINS), test::kLesser); }

__int128 QuotientOfInt32(__int128 a, __int128 b) {
  if (b == 0) return a == 0 ? 0 : a > 0 ? INT32_MAX : INT32_MIN;
  return std::min<__int128>(a / b, INT32_MAX);
}

TEST(Tdivs, DividesInBothOrders) {
  CheckFloatBy<float>(WITH_SCALAR(TDIVS), test::kQuotient);
  CheckFloatBy<half>(WITH_SCALAR(TDIVS), test::kQuotient);
  CheckIntBy<int32_t>(WITH_SCALAR(TDIVS), QuotientOfInt32);
  const auto inverse = [](auto& c, const auto& a, auto s) { TDIVS(c, s, a); };
  CheckFloatBy<float>(inverse, [](double a, double b) { return b / a; });
  CheckFloatBy<half>(inverse, [](double a, double b) { return b / a; });
  CheckIntBy<int32_t>(inverse, [](__int128 a, __int128 b) { return QuotientOfInt32(b, a); });
}

TEST(Tlrelu, ScalesWhatIsNotPositive) {
  const auto plain = [](double a, double s) { return a > 0 ? a : a * s; };
  CheckFloatBy<float>(WITH_SCALAR(TLRELU), plain);
  CheckFloatBy<half>(WITH_SCALAR(TLRELU), plain);
}

TEST(Taxpy, AddsTheScaledSourceInTheTypeOfTheDestination) {
  const auto x = Samples<half>(3'001, 6), start = Samples<half>(3'001, 7, 1);
  const auto wide_start = Samples<float>(3'001, 7, 1);
  const half scalar = static_cast<half>(0.7f);
  const auto op = [&](auto& c, auto& a, auto& b) {
    std::memcpy(static_cast<void*>(c.data()), b.data(), a.GetValidCol() * sizeof(*c.data()));
    TAXPY(c, a, scalar);
  };
  ExpectEach(Through<half>(x, start, op), x, start, [&](half a, half b) {
    const auto product = static_cast<half>(static_cast<float>(scalar) * static_cast<float>(a));
    return static_cast<half>(static_cast<float>(product) + static_cast<float>(b));
  });
  ExpectEach(Through<float>(x, wide_start, op), x, wide_start, [&](half a, float b) {
    const volatile float product = static_cast<float>(scalar) * static_cast<float>(a);
    return product + b;
  });
  const auto wide = Samples<float>(3'001, 8);
  ExpectEach(Through<float>(wide, wide_start, op), wide, wide_start, [&](float a, float b) {
    const volatile float product = static_cast<float>(scalar) * a;
    return product + b;
  });
}

TEST(Texpands, FillsTheValidRegionWithTheScalarsBits) {
  const std::vector<float> x(300);
  for (const float scalar : {-0.0f, 0x1p-149f, INFINITY}) {
    const auto z = Through<float>(x, [&](auto& c, auto&) { TEXPANDS(c, scalar); });
    for (const float value : z) ASSERT_TRUE(test::Same(value, scalar));
  }
  const auto bytes = Through<uint8_t>(x, [](auto& c, auto&) { TEXPANDS(c, 200); });
  EXPECT_EQ(bytes, std::vector<uint8_t>(300, 200));
  const auto wide = Through<int64_t>(x, [](auto& c, auto&) { TEXPANDS(c, -5); }, kA5);
  EXPECT_EQ(wide, std::vector<int64_t>(300, -5));
}

TEST(Scalar, NamesATypeThatTheChipRefuses) {
  using test::ExpectContains;
  const std::string arithmetic =
      ": expected elements of type int16, int32, half or float on Ascend910B1, got ";
  const auto on = [](auto op) { return [op](auto& c, auto& a, auto&) { op(c, a, 1); }; };
  ExpectContains(FaultOn<int8_t>(on(WITH_SCALAR(TADDS))), "TADDS" + arithmetic + "int8");
  ExpectContains(FaultOn<bfloat16_t>(on(WITH_SCALAR(TSUBS))), "TSUBS" + arithmetic + "bfloat16");
  ExpectContains(FaultOn<uint32_t>(on(WITH_SCALAR(TMULS))), "TMULS" + arithmetic + "uint32");
  ExpectContains(FaultOn<int64_t>(on(WITH_SCALAR(TDIVS))), "TDIVS" + arithmetic + "int64");
  ExpectContains(FaultOn<uint16_t>(on(WITH_SCALAR(TMAXS))), "TMAXS" + arithmetic + "uint16");
  ExpectContains(FaultOn<uint8_t>(on(WITH_SCALAR(TMINS))), "TMINS" + arithmetic + "uint8");
  ExpectContains(FaultOn<int32_t>(on(WITH_SCALAR(TLRELU))),
                 "TLRELU: expected elements of type half or float on Ascend910B1, got int32");
  ExpectContains(FaultOn<int32_t>(on(WITH_SCALAR(TAXPY))),
                 "TAXPY: expected elements of type half or float on Ascend910B1, got int32");
  ExpectContains(FaultOn<int64_t>([](auto& c, auto&, auto&) { TEXPANDS(c, 1); }),
                 "TEXPANDS: expected elements of type int8, uint8, int16, uint16, int32, uint32, "
                 "half, bfloat16 or float on Ascend910B1, got int64");
}

}  // namespace
