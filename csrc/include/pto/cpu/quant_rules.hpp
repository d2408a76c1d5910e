// SPDX-License-Identifier: Apache-2.0
// The rules of TQUANT with shared scales, for programs for simulators that ask for them by name.
#pragma once

#include "pto/instr/quant_mx.hpp"
#include "pto/traits.hpp"

namespace pto::cpu_quant {

template <QuantType kType, QuantScaleAlg kAlg>
using Rule = pto::detail::MxRule<kType == QuantType::MXFP4_E2M1, kAlg == QuantScaleAlg::NV>;

inline float Bf16BitsToFloat(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}
/// The magnitude of value, cut to bfloat16.
inline uint16_t AbsBf16BitsFromFloat(float value) {
  return static_cast<uint16_t>(pto::detail::BitsOfFloat(value) >> 16 & 0x7fff);
}

/// The largest magnitude of a group of a row (kAxis 1) or column (kAxis 0).
template <int kAxis, QuantType kType, QuantScaleAlg kAlg, class TileT>
float ComputeMxGroupMax(const TileT& src, int line, int group) {
  float most = 0.0f;
  for (int i = 0; i < static_cast<int>(pto::detail::kMxGroup); ++i) {
    const int at = group * static_cast<int>(pto::detail::kMxGroup) + i;
    const auto value =
        src.data()[GetTileOffset<TileT>(kAxis == 1 ? line : at, kAxis == 1 ? at : line)];
    const float magnitude = pto::detail::MagnitudeOf<kAlg == QuantScaleAlg::NV>(value);
    most = pto::detail::GreaterMagnitude(most, magnitude);
  }
  return most;
}

template <QuantType kType, QuantScaleAlg kAlg>
uint8_t ComputeMxSharedExponent(float most) {
  return Rule<kType, kAlg>::Scale(most).exponent;
}
template <QuantType kType, QuantScaleAlg kAlg>
float ComputeMxGroupScaling(float most, uint8_t) {
  return Rule<kType, kAlg>::Scale(most).factor;
}

template <class T>
float ApplyE2M1ScaleForSource(T value, float scaling) {
  return pto::detail::ScaledElement(value, scaling);
}
inline uint8_t EncodeE2M1Magic(float value) {
  return Rule<QuantType::MXFP4_E2M1, QuantScaleAlg::OCP>::Encode(value);
}
template <QuantScaleAlg kAlg>
uint8_t EncodeE4M3Fn(float value) {
  return Rule<QuantType::MXFP8, kAlg>::Encode(value);
}

}  // namespace pto::cpu_quant
