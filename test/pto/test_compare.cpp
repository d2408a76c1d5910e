// SPDX-License-Identifier: Apache-2.0
// Comparisons to bit masks and selections by them, against plain loops.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::Samples;
using test::VecTile;

constexpr int kRows = 3;
constexpr int kCols = 101;  // 12 bytes of bits and 5 of a 13th
constexpr CmpMode kModes[] = {CmpMode::EQ, CmpMode::NE, CmpMode::LT,
                              CmpMode::LE, CmpMode::GT, CmpMode::GE};

template <class T>
bool Plain(CmpMode mode, T a, T b) {
  switch (mode) {
    case CmpMode::EQ:
      return a == b;
    case CmpMode::NE:
      return a != b;
    case CmpMode::LT:
      return a < b;
    case CmpMode::LE:
      return a <= b;
    case CmpMode::GT:
      return a > b;
    default:
      return a >= b;
  }
}

/// Elements of which some are equal in pairs.
template <class T>
std::vector<T> Numbers(int which) {
  auto values = Samples<T>(kRows * 128, 11, which);
  const auto others = Samples<T>(kRows * 128, 11, 0);
  for (size_t i = 0; i < values.size(); i += 3) values[i] = others[i];
  return values;
}

/// Bits of a 3 x 101 region: tiles of different widths, and nothing but whole bytes is written.
template <class M, class Mask>
void ExpectBits(const Mask& mask, const M& expected) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(mask.data());
  constexpr int kRowBytes = Mask::Cols * sizeof(typename Mask::DType);
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < 13 * 8; ++col) {
      ASSERT_EQ(bytes[row * kRowBytes + col / 8] >> (col % 8) & 1,
                col < kCols && expected(row, col))
          << row << ", " << col;
    }
    for (int byte = 13; byte < kRowBytes; ++byte) ASSERT_EQ(bytes[row * kRowBytes + byte], 0xa5);
  }
}

template <class T, class D = uint8_t, class Value = T>
void CheckTcmp(bool a5 = test::kA3) {
  for (const CmpMode mode : kModes) {
    const bool only_equal = std::is_same_v<T, int32_t> && !a5;
    if (only_equal && mode > CmpMode::NE) continue;
    OnCore([&] {
      std::optional<test::AsA5> chip;
      if (a5) chip.emplace();
      VecTile<T, kRows, 128> a(kRows, kCols);
      VecTile<T, kRows + 1, 160> b(kRows, kCols);
      VecTile<D, kRows, 64> mask(kRows, 13);
      TASSIGN(a, 0);
      TASSIGN(b, 4096);
      TASSIGN(mask, 16384);
      std::memset(static_cast<void*>(mask.data()), 0xa5, sizeof(D) * kRows * 64);
      const auto x = Numbers<T>(0), y = Numbers<T>(1);
      for (int i = 0; i < kRows * 128; ++i) {
        a.SetValue(i, x[i]);
        b.SetValue(i / 128 * 160 + i % 128, y[i]);
      }
      TCMP(mask, a, b, mode);
      ExpectBits(mask, [&](int row, int col) {
        return Plain<Value>(mode, static_cast<Value>(x[row * 128 + col]),
                            static_cast<Value>(y[row * 128 + col]));
      });
    });
  }
}

TEST(Tcmp, EqualsThePlainLoop) {
  CheckTcmp<float>();
  CheckTcmp<half>();
  CheckTcmp<int32_t>();
}

TEST(Tcmp, TakesMoreTypesOnA5) {
  CheckTcmp<int32_t, uint32_t>(test::kA5);
  CheckTcmp<bfloat16_t, uint8_t, float>(test::kA5);
  CheckTcmp<uint64_t, uint8_t>(test::kA5);
  CheckTcmp<int8_t, uint8_t>(test::kA5);
}

/// The bits of T are compared as those of Value.
template <class T, class Value>
void CheckTcmps(bool by_tile, bool a5 = test::kA3) {
  const auto x = Numbers<T>(0);
  const auto as_value = [](T value) {
    if constexpr (sizeof(T) == sizeof(Value))
      return test::BitCast<Value>(value);
    else
      return static_cast<Value>(value);
  };
  for (const CmpMode mode : kModes) {
    if (std::is_same_v<T, int32_t> && mode > CmpMode::NE && !a5) continue;
    for (const T scalar : {x[0], x[20], x[200], x[201]}) {
      OnCore([&] {
        std::optional<test::AsA5> chip;
        if (a5) chip.emplace();
        VecTile<T, kRows, 128> a(kRows, kCols);
        VecTile<T, 1, 32> one(1, 1);
        VecTile<uint8_t, kRows, 32> mask(kRows, 13);
        TASSIGN(a, 0);
        TASSIGN(one, 4096);
        TASSIGN(mask, 16384);
        std::memset(mask.data(), 0xa5, kRows * 32);
        std::copy_n(x.data(), kRows * 128, a.data());
        one.SetValue(0, scalar);
        if (by_tile) {
          TCMPS(mask, a, one, mode);
        } else {
          TCMPS(mask, a, scalar, mode);
        }
        ExpectBits(mask, [&](int row, int col) {
          return Plain<Value>(mode, as_value(x[row * 128 + col]), as_value(scalar));
        });
      });
    }
  }
}

TEST(Tcmps, EqualsThePlainLoop) {
  CheckTcmps<float, float>(false);
  CheckTcmps<half, half>(false);
  CheckTcmps<int32_t, int32_t>(false);
  CheckTcmps<half, half>(true);
}

TEST(Tcmps, TakesThe16BitsOfIntegersForThoseOfHalfOnA3Alone) {
  CheckTcmps<int16_t, half>(false);
  CheckTcmps<uint16_t, half>(false);
  CheckTcmps<int16_t, int16_t>(false, test::kA5);
  CheckTcmps<uint16_t, uint16_t>(true, test::kA5);
}

TEST(Compare, NamesModesAndTypesThatTheChipRefuses) {
  const auto fault = [](auto element, auto mask_element, int mode) {
    return FaultOf([=] {
      VecTile<decltype(element), 2, 32> a(2, 32);
      VecTile<decltype(mask_element), 2, 32> mask(2, 4);
      TASSIGN(a, 0);
      TASSIGN(mask, 1024);
      TCMP(mask, a, a, static_cast<CmpMode>(mode));
    });
  };
  ExpectContains(fault(int32_t{}, uint8_t{}, 2),
                 "TCMP: expected mode EQ (0) or NE (1) for int32 on Ascend910B1, got 2");
  ExpectContains(fault(float{}, uint8_t{}, 6),
                 "TCMP: expected a mode from EQ (0) to GE (5), got 6");
  ExpectContains(fault(int16_t{}, uint8_t{}, 0),
                 "TCMP: expected elements of type int32, half or float on Ascend910B1, got int16");
  ExpectContains(fault(float{}, uint32_t{}, 0),
                 "TCMP: expected elements of type uint8 on Ascend910B1, got uint32");
}

TEST(Compare, NamesAMaskWithoutABitForEachElement) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 2, 512> a(2, 512);
                   VecTile<uint8_t, 2, 32> mask(2, 32);
                   TASSIGN(a, 0);
                   TASSIGN(mask, 8192);
                   TCMPS(mask, a, 0.0f, CmpMode::LT);
                 }),
                 "TCMPS: expected dst with 64 bytes in each of 2 rows, got 32 in each of 2");
  ExpectContains(FaultOf([] {
                   VecTile<half, 4, 32> a(4, 32);
                   VecTile<uint8_t, 2, 32> mask(2, 4);
                   TASSIGN(a, 0);
                   TASSIGN(mask, 8192);
                   TSEL(a, mask, a, a, mask);
                 }),
                 "TSEL: expected the mask with 4 bytes in each of 4 rows, got 32 in each of 2");
  ExpectContains(FaultOf([] {
                   VecTile<float, 4, 32> a(4, 32);
                   VecTile<uint8_t, 4, 32> mask(3, 4);
                   TASSIGN(a, 0);
                   TASSIGN(mask, 8192);
                   TCMP(mask, a, a, CmpMode::EQ);
                 }),
                 "TCMP: expected dst of 4 valid rows (those of src), got 3");
}

}  // namespace
