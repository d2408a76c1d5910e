// SPDX-License-Identifier: Apache-2.0
// Instructions on one tile against plain loops.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::AllValues;
using test::ExpectContains;
using test::ExpectEach;
using test::FaultOn;
using test::kA3;
using test::kA5;
using test::Rounded;
using test::Samples;
using test::Through;

#define ON_TILE(NAME) [](auto& c, const auto& a) { NAME(c, a); }

template <class T, class Op, class Plain>
void Check(const std::vector<T>& x, const Op& op, const Plain& plain, bool a5 = kA3) {
  ExpectEach(Through<T>(x, op, a5), x, x, [&](T a, T) { return plain(a); });
}

template <class T, class Op, class Plain>
void CheckFloat(const std::vector<T>& x, const Op& op, const Plain& plain) {
  Check<T>(x, op, [&](T a) { return Rounded<T>(plain(static_cast<double>(a))); });
}

template <class T, class Op, class Plain>
void CheckInt(const Op& op, const Plain& plain, bool a5 = kA3) {
  Check<T>(Samples<T>(3'001, 3), op, [&](T a) { return static_cast<T>(plain(int64_t{a})); }, a5);
}

TEST(Tabs, ClearsTheSign) {
  CheckFloat(AllValues<half>(), ON_TILE(TABS), [](double a) { return std::fabs(a); });
  CheckFloat(Samples<float>(3'001, 1), ON_TILE(TABS), [](double a) { return std::fabs(a); });
  CheckInt<int8_t>(ON_TILE(TABS), [](int64_t a) { return a < 0 ? -a : a; }, kA5);
  CheckInt<int32_t>(ON_TILE(TABS), [](int64_t a) { return a < 0 ? -a : a; }, kA5);
}

TEST(Tneg, TurnsTheSign) {
  CheckFloat(AllValues<half>(), ON_TILE(TNEG), [](double a) { return -a; });
  CheckFloat(Samples<float>(3'001, 1), ON_TILE(TNEG), [](double a) { return -a; });
  CheckInt<int16_t>(ON_TILE(TNEG), [](int64_t a) { return -a; });
  CheckInt<int32_t>(ON_TILE(TNEG), [](int64_t a) { return -a; });
  Check(
      AllValues<bfloat16_t>(), ON_TILE(TNEG),
      [](bfloat16_t a) { return bfloat16_t(-static_cast<float>(a)); }, kA5);
}

TEST(Tnot, TurnsAllBits) {
  CheckInt<int16_t>(ON_TILE(TNOT), [](int64_t a) { return ~a; });
  CheckInt<uint16_t>(ON_TILE(TNOT), [](int64_t a) { return ~a; });
  CheckInt<int8_t>(ON_TILE(TNOT), [](int64_t a) { return ~a; });
  CheckInt<uint32_t>(ON_TILE(TNOT), [](int64_t a) { return ~a; }, kA5);
}

TEST(Trelu, TakesZeroForWhatIsNotPositiveAndKeepsNan) {
  const auto plain = [](double a) { return a > 0 || std::isnan(a) ? a : 0.0; };
  CheckFloat(AllValues<half>(), ON_TILE(TRELU), plain);
  CheckFloat(Samples<float>(3'001, 1), ON_TILE(TRELU), plain);
  CheckInt<int32_t>(ON_TILE(TRELU), [](int64_t a) { return a > 0 ? a : 0; });
}

TEST(Tsqrt, IsRoundedOnce) {
  CheckFloat(AllValues<half>(), ON_TILE(TSQRT), [](double a) { return std::sqrt(a); });
  CheckFloat(Samples<float>(20'011, 1), ON_TILE(TSQRT), [](double a) { return std::sqrt(a); });
}

TEST(Trecip, IsRoundedOnce) {
  CheckFloat(AllValues<half>(), ON_TILE(TRECIP), [](double a) { return 1 / a; });
  CheckFloat(Samples<float>(20'011, 1), ON_TILE(TRECIP<RecipAlgorithm::HIGH_PRECISION>),
             [](double a) { return 1 / a; });
  CheckInt<int32_t>(ON_TILE(TRECIP), [](int64_t a) { return a == 0 ? INT32_MAX : 1 / a; });
}

TEST(Unary, NamesATypeThatTheChipRefuses) {
  const auto on = [](auto op) { return [op](auto& c, auto& a, auto&) { op(c, a); }; };
  const std::string floats = ": expected elements of type half or float on Ascend910B1, got ";
  ExpectContains(FaultOn<int32_t>(on(ON_TILE(TABS))), "TABS" + floats + "int32");
  ExpectContains(FaultOn<bfloat16_t>(on(ON_TILE(TEXP))), "TEXP" + floats + "bfloat16");
  ExpectContains(FaultOn<int16_t>(on(ON_TILE(TLOG))), "TLOG" + floats + "int16");
  ExpectContains(FaultOn<double>(on(ON_TILE(TSQRT))), "TSQRT" + floats + "double");
  ExpectContains(FaultOn<int8_t>(on(ON_TILE(TRSQRT))), "TRSQRT" + floats + "int8");
  ExpectContains(FaultOn<int8_t>(on(ON_TILE(TRECIP))),
                 "TRECIP: expected elements of type int16, int32, half or float on Ascend910B1, "
                 "got int8");
  ExpectContains(FaultOn<uint32_t>(on(ON_TILE(TNEG))),
                 "TNEG: expected elements of type int16, int32, half or float");
  ExpectContains(FaultOn<int16_t>(on(ON_TILE(TRELU))),
                 "TRELU: expected elements of type int32, half or float");
  ExpectContains(FaultOn<int64_t>(on(ON_TILE(TNOT))), "TNOT: expected elements of type int8, ");
}

TEST(Unary, NamesTheSourceWithTheWrongShape) {
  ExpectContains(test::FaultOf([] {
                   test::VecTile<half, 8, 16> dst(8, 16), src(7, 16);
                   TASSIGN(dst, 0);
                   TASSIGN(src, 256);
                   TEXP(dst, src);
                 }),
                 "TEXP: expected src of valid shape 8x16 (that of dst), got 7x16");
}

}  // namespace
