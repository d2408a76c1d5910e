// SPDX-License-Identifier: Apache-2.0
// Instructions on two tiles against plain loops.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::Check;
using test::CheckFloat;
using test::CheckFloats;
using test::CheckInt;
using test::FaultOn;
using test::kA3;
using test::kA5;

#define ON_TILES(NAME) [](auto& c, auto& a, auto& b) { NAME(c, a, b); }

TEST(Tsub, EqualsThePlainLoop) {
  CheckFloats(ON_TILES(TSUB), test::kDifference);
  CheckInt<int16_t>(ON_TILES(TSUB), test::kDifference);
  CheckInt<int32_t>(ON_TILES(TSUB), test::kDifference);
}

TEST(Tmul, EqualsThePlainLoop) {
  CheckFloats(ON_TILES(TMUL), test::kProduct);
  CheckInt<int16_t>(ON_TILES(TMUL), test::kProduct);
  CheckInt<int32_t>(ON_TILES(TMUL), test::kProduct);
}

TEST(Tdiv, EqualsThePlainLoop) {
  CheckFloats(ON_TILES(TDIV), test::kQuotient);
  CheckFloat<float>(ON_TILES(TDIV<DivAlgorithm::HIGH_PRECISION>), test::kQuotient);
}

TEST(Tdiv, OfIntegersCutsAndStaysInRange) {
  CheckInt<int16_t>(
      ON_TILES(TDIV),
      [](__int128 a, __int128 b) -> __int128 {
        if (b == 0) return a == 0 ? 0 : a > 0 ? INT16_MAX : INT16_MIN;
        return std::min<__int128>(a / b, INT16_MAX);
      },
      kA5);
  CheckInt<uint64_t>(
      ON_TILES(TDIV),
      [](__int128 a, __int128 b) -> __int128 { return b == 0 ? (a == 0 ? 0 : -1) : a / b; }, kA5);
}

TEST(TmaxTmin, EqualThePlainLoop) {
  CheckFloats(ON_TILES(TMAX), test::kGreater);
  CheckFloats(ON_TILES(TMIN), test::kLesser);
  CheckInt<int16_t>(ON_TILES(TMAX), test::kGreater);
  CheckInt<int32_t>(ON_TILES(TMIN), test::kLesser);
}

TEST(Arithmetic, TakesBfloat16AndOtherIntegersOnA5) {
  CheckFloat<bfloat16_t>(ON_TILES(TADD), test::kSum, kA5);
  CheckFloat<bfloat16_t>(ON_TILES(TMUL), test::kProduct, kA5);
  CheckFloat<bfloat16_t>(ON_TILES(TMAX), test::kGreater, kA5);
  CheckInt<int8_t>(ON_TILES(TADD), test::kSum, kA5);
  CheckInt<uint16_t>(ON_TILES(TMUL), test::kProduct, kA5);
  CheckInt<uint32_t>(ON_TILES(TMIN), test::kLesser, kA5);
  CheckInt<int64_t>(ON_TILES(TSUB), test::kDifference, kA5);
}

TEST(Arithmetic, TakesDoubleIfTheLaunchAsksForIt) {
  Check<double>(ON_TILES(TMUL), test::kProduct, kA3, NPU_LAUNCH_FLOAT64);
  Check<double>(ON_TILES(TDIV), test::kQuotient, kA3, NPU_LAUNCH_FLOAT64);
  Check<double>(ON_TILES(TMAX), test::kGreater, kA3, NPU_LAUNCH_FLOAT64);
}

TEST(Elementwise, NamesATypeThatTheChipRefuses) {
  using test::ExpectContains;
  ExpectContains(FaultOn<int8_t>(ON_TILES(TSUB)),
                 "TSUB: expected elements of type int16, int32, half or float on Ascend910B1, got "
                 "int8");
  ExpectContains(FaultOn<bfloat16_t>(ON_TILES(TMUL)),
                 "TMUL: expected elements of type int16, int32,");
  ExpectContains(FaultOn<int32_t>(ON_TILES(TDIV)),
                 "TDIV: expected elements of type half or float on Ascend910B1, got int32");
  ExpectContains(FaultOn<bfloat16_t>(ON_TILES(TMAX)), "TMAX: expected elements of type");
  ExpectContains(FaultOn<uint16_t>(ON_TILES(TMIN)), "TMIN: expected elements of type");
}

TEST(Elementwise, NamesTheOperandWithTheWrongShape) {
  const auto fault = [](const auto& op) {
    return test::FaultOf([&] {
      test::VecTile<int32_t, 8, 8> dst(8, 8), src(8, 4);
      TASSIGN(dst, 0);
      TASSIGN(src, 256);
      op(dst, dst, src);
    });
  };
  const std::string expected = " expected src1 of valid shape 8x8 (that of dst), got 8x4";
  test::ExpectContains(fault(ON_TILES(TSUB)), "TSUB:" + expected);
  test::ExpectContains(fault(ON_TILES(TMUL)), "TMUL:" + expected);
  test::ExpectContains(fault(ON_TILES(TMAX)), "TMAX:" + expected);
  test::ExpectContains(fault(ON_TILES(TMIN)), "TMIN:" + expected);
}

}  // namespace
