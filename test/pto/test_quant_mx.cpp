// SPDX-License-Identifier: Apache-2.0
// Microscaling quantization, which only A5 has, against the definition of its formats.
#include <cmath>
#include <cstring>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::AsA5;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

/// Of the codes 0 to 127 of a format with mantissa bits and bias the one nearest to magnitude, the
/// even one of two; the last code is at most most.
int Nearest(float magnitude, int mantissa_bits, int bias, int most) {
  int best = 0;
  double best_distance = INFINITY;
  for (int code = 0; code <= most; ++code) {
    const int exponent = code >> mantissa_bits, fraction = code & ((1 << mantissa_bits) - 1);
    const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                                       : std::ldexp(fraction + (1 << mantissa_bits),
                                                    exponent - bias - mantissa_bits);
    const double distance = std::fabs(value - static_cast<double>(magnitude));
    if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = distance;
    }
  }
  return best;
}

/// Exponent of the shared scale of finite magnitudes up to most.
int Shared(float most, bool fp4, bool bound) {
  if (bound) {
    for (int shared = 0; shared < 255; ++shared) {  // the least that holds most
      if (most * (1.0f / (fp4 ? 6.0f : 448.0f)) <= std::ldexp(1.0f, shared - 127)) return shared;
    }
  }
  if (most == 0.0f) return 0;
  return std::max(0, std::ilogb(most) + 127 - (fp4 ? 2 : 8));
}

int Code(float value, float factor, bool fp4) {
  const float scaled = value * factor;
  const int sign = std::signbit(scaled) ? (fp4 ? 8 : 128) : 0;
  return sign |
         (fp4 ? Nearest(std::fabs(scaled), 1, 1, 7) : Nearest(std::fabs(scaled), 3, 7, 0x7e));
}

/// Numbers of many sizes, exact in T; a row of zeros, and ties.
template <class T>
std::vector<float> Values(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const float size = std::ldexp(1.0f, i / 32 % 9 * 3 - 12);
    const float value = (i * 37 % 65 - 32) / 16.0f * size;
    values.push_back(static_cast<float>(static_cast<T>(i / 32 == 4 ? 0.0f : value)));
  }
  return values;
}

/// Groups along rows of 5 x 90 valid elements of 96 columns; exponents in one row or a row for
/// each.
template <class T, bool kFp4, QuantScaleAlg kScale, bool kFlat>
void AlongRows() {
  constexpr int kRows = 5, kCols = 90, kPitch = 96, kGroups = 3;
  const auto values = Values<T>(kRows * kPitch);
  OnCore([&] {
    const AsA5 chip;
    VecTile<T, kRows, kPitch> src(kRows, kCols);
    using Code8 = std::conditional_t<kFp4, float4_e2m1x2_t, int8_t>;
    VecTile<Code8, 1, kRows * kPitch> dst(1, kRows * kPitch);
    VecTile<uint8_t, kFlat ? 1 : kRows, 32> exp(kFlat ? 1 : kRows, kGroups);
    VecTile<T, 1, 32> max(1, 15), scaling(1, 15);
    TASSIGN(src, 0);
    TASSIGN(dst, 8192);
    TASSIGN(exp, 16384);
    TASSIGN(max, 20480);
    TASSIGN(scaling, 24576);
    for (int i = 0; i < kRows * kPitch; ++i) src.SetValue(i, static_cast<T>(values[i]));
    TQUANT<kFp4 ? QuantType::MXFP4_E2M1 : QuantType::MXFP8, decltype(dst), decltype(src),
           decltype(exp), decltype(max), decltype(scaling), kScale>(dst, src, &exp, &max, &scaling);
    const auto* codes = reinterpret_cast<const uint8_t*>(dst.data());
    for (int i = 0; i < kRows * kGroups; ++i) {
      const int row = i / kGroups, first = i % kGroups * 32, count = std::min(32, kCols - first);
      float most = 0.0f;
      for (int k = 0; k < count; ++k)
        most = std::max(most, std::fabs(values[row * kPitch + first + k]));
      const int shared = Shared(most, kFp4, kScale == QuantScaleAlg::NV);
      ASSERT_EQ(exp.GetValue(kFlat ? i : row * 32 + i % kGroups), shared) << i;
      const float factor = std::ldexp(1.0f, 127 - shared);
      for (int k = 0; k < 32; ++k) {
        const int at = row * kPitch + first + k;
        const int code = kFp4 ? codes[at / 2] >> (at % 2 * 4) & 15 : codes[at];
        ASSERT_EQ(code, k < count ? Code(values[at], factor, kFp4) : 0) << at;
      }
    }
    if constexpr (std::is_same_v<T, float>) {
      EXPECT_EQ(max.GetValue(4), 0.0f);
      EXPECT_EQ(scaling.GetValue(4), 0x1p127f);
    }
  });
}

TEST(TquantMx, SharesAScaleAmong32ElementsOfARow) {
  AlongRows<float, false, QuantScaleAlg::OCP, true>();
  AlongRows<bfloat16_t, false, QuantScaleAlg::OCP, false>();
  AlongRows<half, true, QuantScaleAlg::OCP, false>();
  AlongRows<bfloat16_t, true, QuantScaleAlg::OCP, true>();
}

TEST(TquantMx, RoundsTheScaleUpWhereTheNumbersAreToBeHeld) {
  AlongRows<float, false, QuantScaleAlg::NV, false>();
  AlongRows<half, false, QuantScaleAlg::NV, true>();
  AlongRows<bfloat16_t, true, QuantScaleAlg::NV, true>();
}

template <class T, MxQuantAlg kAlgorithm, bool kInterleaves>
void DownColumns() {
  constexpr bool kFp4 = kAlgorithm >= MxQuantAlg::OcpMxFp4E2M1;
  constexpr bool kBound = kAlgorithm == MxQuantAlg::NvMxFp4E2M1;
  constexpr int kRows = 128, kCols = 33, kPitch = 64;
  const auto values = Values<T>(kRows * kPitch);
  OnCore([&] {
    const AsA5 chip;
    VecTile<T, kRows, kPitch> src(kRows, kCols);
    using Code8 = std::conditional_t<kFp4, float4_e2m1x2_t, int8_t>;
    VecTile<Code8, kRows, kPitch> dst(kRows, kCols);
    VecTile<uint8_t, kInterleaves ? 2 : 4, kInterleaves ? 128 : 64> exp(kInterleaves ? 2 : 4,
                                                                        kCols);
    VecTile<T, 4, kPitch> max(4, kCols), scaling(4, kCols);
    TASSIGN(src, 0);
    TASSIGN(dst, 65536);
    TASSIGN(exp, 98304);
    TASSIGN(max, 102400);
    TASSIGN(scaling, 106496);
    for (int i = 0; i < kRows * kPitch; ++i) src.SetValue(i, static_cast<T>(values[i]));
    if constexpr (kInterleaves) {
      TQUANT<0, kAlgorithm, true>(dst, src, &exp, &max, &scaling);
    } else {
      TQUANT<0, kAlgorithm>(dst, src, &exp, &max, &scaling);
    }
    const auto* codes = reinterpret_cast<const uint8_t*>(dst.data());
    for (int group = 0; group < 4; ++group) {
      for (int col = 0; col < kCols; ++col) {
        float most = 0.0f;
        for (int k = 0; k < 32; ++k)
          most = std::max(most, std::fabs(values[(group * 32 + k) * kPitch + col]));
        const int shared = Shared(most, kFp4, kBound);
        const int place = kInterleaves ? group / 2 * 128 + 2 * col + group % 2 : group * 64 + col;
        ASSERT_EQ(exp.GetValue(place), shared) << group << ", " << col;
        if constexpr (!std::is_same_v<T, half>) {  // of half it may have the bits of bfloat16
          const T seen = max.GetValue(group * kPitch + col);
          ASSERT_EQ(static_cast<float>(seen), most) << group << ", " << col;
        }
        const float factor = std::ldexp(1.0f, 127 - shared);
        for (int k = 0; k < 32; ++k) {
          const int at = (group * 32 + k) * kPitch + col;
          const int code = kFp4 ? codes[at / 2] >> (at % 2 * 4) & 15 : codes[at];
          ASSERT_EQ(code, Code(values[at], factor, kFp4)) << at;
        }
      }
    }
  });
}

TEST(TquantMx, SharesAScaleAmong32ElementsOfAColumn) {
  DownColumns<float, MxQuantAlg::OcpMxFp8E4M3, false>();
  DownColumns<bfloat16_t, MxQuantAlg::OcpMxFp8E4M3, true>();
  DownColumns<half, MxQuantAlg::OcpMxFp4E2M1, true>();
  DownColumns<bfloat16_t, MxQuantAlg::NvMxFp4E2M1, false>();
}

TEST(TquantMx, KeepsNanAndCutsInfinity) {
  OnCore([] {
    const AsA5 chip;
    VecTile<float, 1, 64> src(1, 64);
    VecTile<int8_t, 1, 64> dst(1, 64);
    VecTile<uint8_t, 1, 32> exp(1, 2);
    VecTile<float, 1, 8> max(1, 2), scaling(1, 2);
    TASSIGN(src, 0);
    TASSIGN(dst, 1024);
    TASSIGN(exp, 2048);
    TASSIGN(max, 3072);
    TASSIGN(scaling, 4096);
    TEXPANDS(src, 1.0f);
    src.SetValue(3, NAN);
    src.SetValue(40, -INFINITY);
    src.SetValue(41, -0.0f);
    TQUANT<QuantType::MXFP8>(dst, src, &exp, &max, &scaling);
    EXPECT_EQ(exp.GetValue(0), 0xff);
    EXPECT_EQ(dst.GetValue(0), 0x7f);  // all of the group
    EXPECT_EQ(exp.GetValue(1), 247);
    EXPECT_EQ(static_cast<uint8_t>(dst.GetValue(40)), 0xfe);  // -448
    EXPECT_EQ(static_cast<uint8_t>(dst.GetValue(41)), 0x80);
  });
}

TEST(TquantMx, NamesWhatTheChipRefuses) {
  const auto fault = [](bool a5) {
    return FaultOf([=] {
      std::optional<AsA5> chip;
      if (a5) chip.emplace();
      VecTile<float, 8, 64> src(8, 64);
      VecTile<int8_t, 8, 64> dst(8, 64);
      VecTile<uint8_t, 1, 32> exp(1, 16);
      VecTile<float, 1, 8> max(1, 8);
      TASSIGN(src, 0);
      TASSIGN(dst, 4096);
      TASSIGN(exp, 8192);
      TASSIGN(max, 16384);
      TQUANT<QuantType::MXFP8>(dst, src, &exp, &max, &max);
    });
  };
  ExpectContains(FaultOf([] {
                   const AsA5 chip;
                   VecTile<half, 8, 64> src(8, 64);
                   VecTile<float4_e2m1x2_t, 4, 64> dst(4, 64);
                   VecTile<uint8_t, 1, 32> exp(1, 16);
                   VecTile<half, 1, 16> max(1, 16);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 4096);
                   TASSIGN(exp, 8192);
                   TASSIGN(max, 16384);
                   TQUANT<QuantType::MXFP4_E2M1>(dst, src, &exp, &max, &max);
                 }),
                 "TQUANT: expected dst of at least 512 elements, got 256");
  ExpectContains(fault(test::kA3), "TQUANT: expected a chip of generation A5, got Ascend910B1");
  ExpectContains(fault(test::kA5), "TQUANT: expected max of at least 16 elements, got 8");
}

}  // namespace
