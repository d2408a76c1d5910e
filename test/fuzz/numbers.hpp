// SPDX-License-Identifier: Apache-2.0
// Element types as the model of the fuzzer computes them: bits, and the numbers they stand for.
// Shares no code with the library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

enum class Dtype : uint8_t { kI8, kU8, kI16, kU16, kI32, kU32, kF16, kBf16, kF32 };
inline constexpr int kDtypes = 9;

const char* NameOf(Dtype type);
size_t BytesOf(Dtype type);
bool IsFloat(Dtype type);
bool IsSigned(Dtype type);

enum class Rounding : uint8_t { kNearestEven, kTiesAway, kDown, kUp, kToZero };

/// The number that bits of type stand for; of integers exact.
double ValueOf(Dtype type, uint32_t bits);
int64_t IntegerOf(Dtype type, uint32_t bits);
/// value in a floating type, once rounded; what is beyond its range becomes infinite or, where
/// the rounding leads towards zero, its largest number.
uint32_t BitsOf(Dtype type, double value, Rounding rounding = Rounding::kNearestEven);
/// value as an integer.
double ToIntegral(double value, Rounding rounding);
/// The lowest bits of value.
uint32_t Wrapped(Dtype type, int64_t value);
int64_t LeastOf(Dtype type);
int64_t GreatestOf(Dtype type);
/// The largest finite number of a floating type.
double LargestOf(Dtype type);
bool IsNan(Dtype type, uint32_t bits);

}  // namespace fuzz
