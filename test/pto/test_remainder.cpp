// SPDX-License-Identifier: Apache-2.0
// Remainders against plain loops.
#include <cmath>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::Check;
using test::ExpectContains;
using test::FaultOn;
using test::kA3;
using test::kA5;

const auto kRem = [](auto& c, auto& a, auto& b) { TREM(c, a, b, c); };
const auto kFmod = [](auto& c, auto& a, auto& b) { TFMOD(c, a, b); };

/// Each step rounded to float.
float InSteps(float a, float b, bool floored) {
  const volatile float quotient = a / b;
  const float whole = floored ? std::floor(quotient) : std::trunc(quotient);
  const volatile float product = whole * b;
  return a - product;
}

float Corrected(float rest, float b) {
  const volatile float product = rest * b;
  return product < 0 ? rest + b : rest;
}

template <class T>
T FlooredInteger(T a, T b) {
  if (b == 0) return 0;
  const __int128 rest = __int128{a} % __int128{b};
  const bool other_sign = rest != 0 && (rest < 0) != (b < 0) && sizeof(T) < 8;
  return static_cast<T>(other_sign ? rest + b : rest);
}

/// The half below value, or value.
half Cut(float value) {
  half near = static_cast<half>(value);
  if (std::fabs(static_cast<float>(near)) > std::fabs(value))
    near = test::BitCast<half>(static_cast<uint16_t>(test::BitCast<uint16_t>(near) - 1));
  return near;
}

TEST(Trem, OfFloatsIsComputedInRoundedSteps) {
  const auto plain = [](float a, float b) { return Corrected(InSteps(a, b, true), b); };
  Check<float>(kRem, plain, kA3);
  Check<float>(kRem, plain, kA5);
  const auto exact = [](float a, float b) {
    const double rest = std::fmod(double{a}, double{b});
    return static_cast<float>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
  };
  Check<float>([](auto& c, auto& a, auto& b) { TREM<RemAlgorithm::HIGH_PRECISION>(c, a, b, c); },
               exact, kA5);
}

TEST(Trem, OfInt32IsExactWithin24BitsOnA3) {
  auto x = test::Samples<int32_t>(4'001, 3, 0), y = test::Samples<int32_t>(4'001, 4, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] %= 1 << 24;
    y[i] %= i % 2 == 0 ? 1 << 24 : 100;
  }
  test::ExpectEach(test::Through<int32_t>(x, y, kRem), x, y,
                   [](int32_t a, int32_t b) { return b == 0 ? a : FlooredInteger(a, b); });
}

template <class T>
void CheckIntegersOfA5() {
  Check<T>(kRem, FlooredInteger<T>, kA5);
}

TEST(Trem, OfIntegersTakesTheDivisorsSignOnA5) {
  CheckIntegersOfA5<int16_t>();
  CheckIntegersOfA5<uint16_t>();
  CheckIntegersOfA5<int32_t>();
  CheckIntegersOfA5<uint32_t>();
  CheckIntegersOfA5<int64_t>();
  CheckIntegersOfA5<uint64_t>();
}

TEST(Trem, OfHalfIsCutBeforeTheDivisorIsAdded) {
  const auto plain = [](half a, half b) {
    const half rest = Cut(InSteps(a, b, true));
    const auto product = static_cast<half>(static_cast<float>(rest) * static_cast<float>(b));
    return product < 0 ? static_cast<half>(static_cast<float>(rest) + static_cast<float>(b)) : rest;
  };
  Check<half>(kRem, plain, kA5);
}

TEST(Tfmod, TakesTheDividendsSign) {
  const auto plain = [](float a, float b) { return InSteps(a, b, false); };
  Check<float>(kFmod, plain, kA3);
  Check<float>(kFmod, plain, kA5);
  Check<half>(kFmod, [](half a, half b) { return Cut(InSteps(a, b, false)); }, kA5);
  const auto integers = [](auto a, auto b) {
    return b == 0 ? a : static_cast<decltype(a)>(__int128{a} % __int128{b});
  };
  Check<int16_t>(kFmod, integers, kA5);
  Check<uint32_t>(kFmod, integers, kA5);
  Check<int32_t>(kFmod, integers, kA5);
  Check<float>([](auto& c, auto& a, auto& b) { TFMOD<FmodAlgorithm::HIGH_PRECISION>(c, a, b); },
               [](float a, float b) { return std::fmod(a, b); }, kA5);
}

/// op(c, a, scalar) against plain(x, scalar).
template <class T, class Op, class Plain>
void CheckBy(const Op& op, const Plain& plain, bool a5) {
  const auto x = test::Samples<T>(3'001, 5);
  for (const float value : {3.0f, -2.5f, 0.0f, 1000.0f}) {
    const T scalar = static_cast<T>(value);
    const auto z = test::Through<T>(x, [&](auto& c, auto& a) { op(c, a, scalar); }, a5);
    test::ExpectEach(z, x, std::vector<T>(x.size(), scalar), plain);
  }
}

TEST(RemainderByScalar, IsThatOfATile) {
  const auto rem = [](auto& c, auto& a, auto s) { TREMS(c, a, s, c); };
  const auto fmod = [](auto& c, auto& a, auto s) { TFMODS(c, a, s); };
  CheckBy<float>(rem, [](float a, float b) { return Corrected(InSteps(a, b, true), b); }, kA3);
  CheckBy<float>(rem, [](float a, float b) { return InSteps(a, b, true); }, kA5);
  CheckBy<half>(rem, [](half a, half b) { return Cut(InSteps(a, b, true)); }, kA5);
  CheckBy<int16_t>(rem, FlooredInteger<int16_t>, kA5);
  CheckBy<int64_t>(rem, FlooredInteger<int64_t>, kA5);
  CheckBy<float>(fmod, [](float a, float b) { return InSteps(a, b, false); }, kA3);
  CheckBy<half>(fmod, [](half a, half b) { return Cut(InSteps(a, b, false)); }, kA5);
}

TEST(Remainder, NamesATypeThatTheChipRefuses) {
  ExpectContains(FaultOn<half>(kRem),
                 "TREM: expected elements of type int32 or float on Ascend910B1, got half");
  ExpectContains(FaultOn<int32_t>(kFmod),
                 "TFMOD: expected elements of type float on Ascend910B1, got int32");
  ExpectContains(FaultOn<int16_t>([](auto& c, auto& a, auto&) { TREMS(c, a, 3, c); }),
                 "TREMS: expected elements of type int32 or float on Ascend910B1, got int16");
  ExpectContains(FaultOn<half>([](auto& c, auto& a, auto&) { TFMODS(c, a, half(3)); }),
                 "TFMODS: expected elements of type float on Ascend910B1, got half");
}

}  // namespace
