// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "pto/types.hpp"

namespace pto {

/// A PadValue that stands for the lowest bytes of bits.
constexpr PadValue PadValueOfBits(uint32_t bits) {
  return static_cast<PadValue>(static_cast<uint64_t>(PadValue::CustomBase) | bits);
}

/// A PadValue that stands for value, for tiles of elements of its type. Source: PTO ISA.
template <class T>
constexpr PadValue PadValueCustom(T value) {
  if constexpr (std::is_same_v<T, bfloat16_t>) {
    return PadValueOfBits(value.bits);
  } else if constexpr (std::is_same_v<T, half>) {
    return PadValueOfBits(__builtin_bit_cast(uint16_t, value));
  } else if constexpr (std::is_same_v<T, double>) {
    return PadValueOfBits(__builtin_bit_cast(uint32_t, static_cast<float>(value)));
  } else if constexpr (std::is_same_v<T, float>) {
    return PadValueOfBits(__builtin_bit_cast(uint32_t, value));
  } else {
    return PadValueOfBits(static_cast<uint32_t>(value));
  }
}
constexpr PadValue PadValueCustom16(uint16_t bits) { return PadValueOfBits(bits); }

/// The bits that a custom PadValue stands for.
constexpr bool isCustomPadValue(PadValue pad) { return pad >= PadValue::CustomBase; }
constexpr uint32_t getCustomPadBits(PadValue pad) { return static_cast<uint32_t>(pad); }

template <auto kValue>
inline constexpr PadValue PadCustom = PadValueCustom(kValue);

namespace detail {

/// The element of type T that pad stands for; 0 for Null, and of floats of 8 and 4 bits also for
/// Max and Min, as on the chip.
template <class T>
T PadElement(PadValue pad) {
  if (pad >= PadValue::CustomBase) {
    T value = {};
    const auto bits = static_cast<uint32_t>(pad);  // the lowest bytes come first on these machines
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T) < 4 ? sizeof(T) : 4);
    return value;
  }
  if (pad != PadValue::Max && pad != PadValue::Min) return T{};
  const bool is_max = pad == PadValue::Max;
  if constexpr (!std::is_integral_v<T> && sizeof(T) == 1) {
    return T{};
  } else if constexpr (std::is_integral_v<T>) {
    return is_max ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  } else {
    const float infinity = std::numeric_limits<float>::infinity();
    return static_cast<T>(is_max ? infinity : -infinity);
  }
}

}  // namespace detail

}  // namespace pto
