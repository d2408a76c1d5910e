// SPDX-License-Identifier: Apache-2.0
// Quantization to 8 bits and back, against plain loops.
#include <cmath>
#include <cstring>
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::OnCore;
using test::VecTile;

constexpr int kRows = 3, kCols = 45;
using Column = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, -1, -1>;

/// Values around ties and bounds, and what no range holds.
std::vector<float> Values() {
  std::vector<float> values = {0.5f,  1.5f,   -0.5f,    -1.5f,     127.4f, 127.5f, -128.5f, -129.0f,
                               1e10f, -1e10f, INFINITY, -INFINITY, NAN,    -0.0f,  255.49f, 255.5f};
  for (int i = static_cast<int>(values.size()); i < kRows * kCols; ++i)
    values.push_back(static_cast<float>(i * 37 % 400 - 200) / 1.5f);
  return values;
}

template <class Out>
int Expected(float value) {
  constexpr int kLow = std::is_signed_v<Out> ? -128 : 0, kHigh = std::is_signed_v<Out> ? 127 : 255;
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(static_cast<double>(value));
  return static_cast<int>(std::fmin(std::fmax(rounded, kLow), kHigh));
}

template <class Out, QuantType kType>
void Quantizes(bool with_scratch) {
  const auto values = Values();
  const float scales[] = {1.0f, 0.75f, -2.0f}, offsets[] = {0.0f, 128.0f, 3.5f};
  OnCore([&] {
    VecTile<float, kRows, 64> src(kRows, kCols), tmp(kRows, 64);
    VecTile<Out, kRows, 96> dst(kRows, kCols);
    Column scale(kRows, 1), offset(kRows, 1);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    TASSIGN(scale, 8192);
    TASSIGN(offset, 8448);
    TASSIGN(tmp, 16384);
    for (int i = 0; i < kRows * kCols; ++i) src.SetValue(i / kCols * 64 + i % kCols, values[i]);
    for (int i = 0; i < kRows * 96; ++i) dst.SetValue(i, Out(7));
    for (int row = 0; row < kRows; ++row) {
      scale.SetValue(row, scales[row]);
      offset.SetValue(row, offsets[row]);
    }
    Column* added = kType == QuantType::INT8_ASYM ? &offset : nullptr;
    if (with_scratch) {
      TQUANT<kType>(dst, src, scale, tmp, added);
    } else {
      TQUANT<kType>(dst, src, scale, added);
    }
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < 96; ++col) {
        float value = col < kCols ? values[row * kCols + col] * scales[row] : 7.0f;
        if (col < kCols && added != nullptr) value += offsets[row];
        ASSERT_EQ(dst.GetValue(row * 96 + col), Expected<Out>(value)) << row << ", " << col;
      }
    }
  });
}

TEST(Tquant, RoundsTiesToEvenAndHoldsTheRange) {
  Quantizes<int8_t, QuantType::INT8_SYM>(false);
  Quantizes<int8_t, QuantType::INT8_SYM>(true);
  Quantizes<uint8_t, QuantType::INT8_ASYM>(false);
  Quantizes<uint8_t, QuantType::INT8_ASYM>(true);
}

template <class In>
void Dequantizes() {
  const auto values = test::Samples<In>(kRows * 64, 81);
  OnCore([&] {
    VecTile<In, kRows, 64> src(kRows, kCols);
    VecTile<float, kRows, 96> dst(kRows, kCols);
    VecTile<float, kRows, 8> scale(kRows, 1), offset(kRows, 1);
    TASSIGN(src, 0);
    TASSIGN(dst, 4096);
    TASSIGN(scale, 8192);
    TASSIGN(offset, 8448);
    for (int i = 0; i < kRows * 64; ++i) src.SetValue(i, values[i]);
    for (int i = 0; i < kRows * 96; ++i) dst.SetValue(i, 7.0f);
    for (int row = 0; row < kRows; ++row) {
      scale.SetValue(row * 8, 0.1f * (row + 1));
      offset.SetValue(row * 8, 0.3f * row);
    }
    TDEQUANT(dst, src, scale, offset);
    for (int row = 0; row < kRows; ++row) {
      for (int col = 0; col < 96; ++col) {
        const float moved = static_cast<float>(values[row * 64 + col % 64]) - 0.3f * row;
        const float expected = col < kCols ? moved * (0.1f * (row + 1)) : 7.0f;
        ASSERT_EQ(dst.GetValue(row * 96 + col), expected) << row << ", " << col;
      }
    }
  });
}

TEST(Tdequant, TakesTheOffsetAndScalesEachRow) {
  Dequantizes<int8_t>();
  Dequantizes<int16_t>();
}

TEST(Quantization, NamesWhatTheChipRefuses) {
  ExpectContains(FaultOf([] {
                   VecTile<float, 1, 32> src(1, 32);
                   VecTile<uint8_t, 1, 32> dst(1, 32);
                   Column scale(1, 1);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 1024);
                   TASSIGN(scale, 2048);
                   TQUANT<QuantType::INT8_ASYM>(dst, src, scale);
                 }),
                 "TQUANT: expected an offset for uint8, got none");
  ExpectContains(FaultOf([] {
                   VecTile<float, 64, 32> src(64, 32);
                   VecTile<int8_t, 64, 32> dst(64, 32);
                   Column scale(32, 1);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 16384);
                   TASSIGN(scale, 32768);
                   TQUANT<QuantType::INT8_SYM>(dst, src, scale);
                 }),
                 "TQUANT: expected scale of at least 64x1, got 32x1");
  ExpectContains(FaultOf([] {
                   VecTile<int32_t, 1, 32> src(1, 32);
                   VecTile<float, 1, 32> dst(1, 32);
                   Column scale(1, 1);
                   TASSIGN(src, 0);
                   TASSIGN(dst, 1024);
                   TASSIGN(scale, 2048);
                   TDEQUANT(dst, src, scale, scale);
                 }),
                 "TDEQUANT: expected elements of type int8 or int16 on Ascend910B1, got int32");
}

}  // namespace
