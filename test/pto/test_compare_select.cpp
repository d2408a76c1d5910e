// SPDX-License-Identifier: Apache-2.0
// Selections by bit masks, against plain loops.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::OnCore;
using test::Samples;
using test::VecTile;

constexpr int kRows = 3;
constexpr int kCols = 101;

/// dst, src0, src1 of different widths; the bits of row r begin a row of the mask.
template <class T, class M>
void Check(bool with_scalar, bool a5 = test::kA3) {
  const auto x = Samples<T>(kRows * 128, 21), y = Samples<T>(kRows * 128, 22);
  const auto bits = Samples<uint8_t>(kRows * 128, 23);
  OnCore([&] {
    std::optional<test::AsA5> chip;
    if (a5) chip.emplace();
    VecTile<T, kRows, 128> a(kRows, kCols);
    VecTile<T, kRows + 1, 160> b(kRows, kCols);
    VecTile<T, kRows + 2, 192> dst(kRows, kCols);
    VecTile<M, kRows, 32> mask(kRows, 13);
    VecTile<uint8_t, 1, 32> tmp(1, 32);
    TASSIGN(a, 0);
    TASSIGN(b, 4096);
    TASSIGN(dst, 8192);
    TASSIGN(mask, 16384);
    TASSIGN(tmp, 20480);
    std::copy_n(bits.data(), kRows * 32 * sizeof(M), reinterpret_cast<uint8_t*>(mask.data()));
    for (int i = 0; i < kRows * 128; ++i) {
      a.SetValue(i, x[i]);
      b.SetValue(i / 128 * 160 + i % 128, y[i]);
    }
    for (int i = 0; i < (kRows + 2) * 192; ++i) dst.SetValue(i, T(77));
    if (with_scalar) {
      TSELS(dst, mask, a, tmp, y[0]);
    } else {
      TSEL(dst, mask, a, b, tmp);
    }
    for (int row = 0; row < kRows + 2; ++row) {
      for (int col = 0; col < 192; ++col) {
        T expected = T(77);
        if (row < kRows && col < kCols) {
          const int byte = bits[row * 32 * sizeof(M) + col / 8];
          const T other = with_scalar ? y[0] : y[row * 128 + col];
          expected = byte >> (col % 8) & 1 ? x[row * 128 + col] : other;
        }
        const T got = dst.GetValue(row * 192 + col);
        ASSERT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0) << row << ", " << col;
      }
    }
  });
}

TEST(Tsel, TakesTheFirstSourceWhereTheBitIsSet) {
  Check<float, uint8_t>(false);
  Check<half, uint8_t>(false);
  Check<int16_t, uint16_t>(false);
  Check<uint32_t, uint32_t>(false);
  Check<bfloat16_t, uint8_t>(false);
  Check<int8_t, uint8_t>(false, test::kA5);
}

TEST(Tsels, TakesTheScalarWhereTheBitIsNotSet) {
  Check<float, uint8_t>(true);
  Check<half, uint32_t>(true);
  Check<uint16_t, uint16_t>(true);
  Check<int32_t, uint8_t>(true);
}

TEST(Tsel, TakesWhatTcmpWrote) {
  OnCore([] {
    VecTile<float, 2, 64> x(2, 50), y(2, 50);
    VecTile<uint8_t, 2, 32> mask(2, 7);
    TASSIGN(x, 0);
    TASSIGN(y, 1024);
    TASSIGN(mask, 2048);
    for (int i = 0; i < 128; ++i) {
      x.SetValue(i, static_cast<float>(i * 7 % 50));
      y.SetValue(i, static_cast<float>(i * 11 % 50));
    }
    TCMP(mask, x, y, CmpMode::GT);
    TSEL(x, mask, x, y, mask);  // in place
    for (int row = 0; row < 2; ++row) {
      for (int col = 0; col < 50; ++col) {
        const int i = row * 64 + col;
        ASSERT_EQ(x.GetValue(i), static_cast<float>(std::max(i * 7 % 50, i * 11 % 50)));
      }
    }
  });
}

TEST(Tsel, TakesFloat64WhereTheLaunchAsksForIt) {
  const auto body = [] {
    VecTile<double, 2, 32> x(2, 21), y(2, 21);
    VecTile<uint8_t, 2, 32> mask(2, 3);
    TASSIGN(x, 0);
    TASSIGN(y, 1024);
    TASSIGN(mask, 2048);
    for (int i = 0; i < 64; ++i) {
      x.SetValue(i, 1e-300 * (i % 5 - 2));
      y.SetValue(i, i);
    }
    TCMPS(mask, x, 0.0, CmpMode::GE);
    TSEL(y, mask, x, y, mask);
    for (int i = 0; i < 64; ++i) {
      const double kept = i % 32 < 21 && i % 5 >= 2 ? 1e-300 * (i % 5 - 2) : i;
      ASSERT_EQ(y.GetValue(i), kept) << i;
    }
  };
  OnCore(body, 1, NPU_LAUNCH_FLOAT64);
}

TEST(Select, NamesATypeThatTheChipRefuses) {
  const auto fault = [](auto element) {
    return test::FaultOf([=] {
      VecTile<decltype(element), 2, 32> a(2, 32);
      VecTile<uint8_t, 2, 32> mask(2, 4);
      TASSIGN(a, 0);
      TASSIGN(mask, 1024);
      TSELS(a, mask, a, mask, element);
    });
  };
  test::ExpectContains(fault(int8_t{}),
                       "TSELS: expected elements of type int16, uint16, int32, uint32, half, "
                       "bfloat16 or float on Ascend910B1, got int8");
  test::ExpectContains(fault(int64_t{}), "TSELS: expected elements of type");
  test::ExpectContains(fault(double{}), "on Ascend910B1, got double");
}

}  // namespace
