// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <cmath>
#include <limits>

namespace fuzz {
namespace {

struct Info {
  const char* name;
  size_t bytes;
  bool is_signed;
  int mantissa;  // bits behind the leading one; 0 for integers
  int exponent;  // bits
};
constexpr Info kInfo[kDtypes] = {
    {"int8", 1, true, 0, 0},    {"uint8", 1, false, 0, 0},   {"int16", 2, true, 0, 0},
    {"uint16", 2, false, 0, 0}, {"int32", 4, true, 0, 0},    {"uint32", 4, false, 0, 0},
    {"half", 2, true, 10, 5},   {"bfloat16", 2, true, 7, 8}, {"float", 4, true, 23, 8}};

const Info& InfoOf(Dtype type) { return kInfo[static_cast<int>(type)]; }
int BiasOf(const Info& info) { return (1 << (info.exponent - 1)) - 1; }

double Halfway(double lower, double value) { return value - lower - 0.5; }

}  // namespace

const char* NameOf(Dtype type) { return InfoOf(type).name; }
size_t BytesOf(Dtype type) { return InfoOf(type).bytes; }
bool IsFloat(Dtype type) { return InfoOf(type).mantissa != 0; }
bool IsSigned(Dtype type) { return InfoOf(type).is_signed; }

int64_t IntegerOf(Dtype type, uint32_t bits) {
  const auto width = static_cast<int>(8 * BytesOf(type));
  const auto value = static_cast<int64_t>(bits) & ((int64_t{1} << width) - 1);
  const bool is_negative = IsSigned(type) && (value >> (width - 1)) != 0;
  return is_negative ? value - (int64_t{1} << width) : value;
}

uint32_t Wrapped(Dtype type, int64_t value) {
  const auto width = static_cast<int>(8 * BytesOf(type));
  return static_cast<uint32_t>(static_cast<uint64_t>(value) & ((uint64_t{1} << width) - 1));
}

int64_t GreatestOf(Dtype type) {
  return (int64_t{1} << (8 * BytesOf(type) - (IsSigned(type) ? 1 : 0))) - 1;
}
int64_t LeastOf(Dtype type) { return IsSigned(type) ? -GreatestOf(type) - 1 : 0; }

double LargestOf(Dtype type) {
  const Info& info = InfoOf(type);
  return std::ldexp(2.0 - std::ldexp(1.0, -info.mantissa), BiasOf(info));
}

double ValueOf(Dtype type, uint32_t bits) {
  const Info& info = InfoOf(type);
  if (info.mantissa == 0) return static_cast<double>(IntegerOf(type, bits));
  const uint32_t mantissa = bits & ((1u << info.mantissa) - 1);
  const auto exponent = static_cast<int>(bits >> info.mantissa & ((1u << info.exponent) - 1));
  const bool is_negative = (bits >> (info.mantissa + info.exponent) & 1) != 0;
  double value = 0;
  if (exponent == (1 << info.exponent) - 1) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - BiasOf(info) - info.mantissa);
  } else {
    value = std::ldexp(mantissa + (1u << info.mantissa), exponent - BiasOf(info) - info.mantissa);
  }
  return is_negative ? -value : value;
}

bool IsNan(Dtype type, uint32_t bits) { return IsFloat(type) && std::isnan(ValueOf(type, bits)); }

double ToIntegral(double value, Rounding rounding) {
  const double lower = std::floor(value);
  if (!std::isfinite(value) || lower == value) return value;
  const double to_half = Halfway(lower, value);
  bool takes_upper = to_half > 0;
  if (rounding == Rounding::kDown) takes_upper = false;
  if (rounding == Rounding::kUp) takes_upper = true;
  if (rounding == Rounding::kToZero) takes_upper = value < 0;
  if (rounding == Rounding::kTiesAway && to_half == 0) takes_upper = value > 0;
  if (rounding == Rounding::kNearestEven && to_half == 0) takes_upper = std::fmod(lower, 2) != 0;
  return std::copysign(takes_upper ? lower + 1 : lower, value);
}

uint32_t BitsOf(Dtype type, double value, Rounding rounding) {
  const Info& info = InfoOf(type);
  const int bias = BiasOf(info);
  const uint32_t infinity = ((1u << info.exponent) - 1) << info.mantissa;
  const uint32_t sign = std::signbit(value) ? 1u << (info.mantissa + info.exponent) : 0;
  if (std::isnan(value)) return infinity | 1u << (info.mantissa - 1);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int exponent = std::ilogb(value);
  if (exponent < 1 - bias) exponent = 1 - bias;
  const double steps = std::fabs(ToIntegral(std::ldexp(value, info.mantissa - exponent), rounding));
  auto whole = static_cast<uint64_t>(steps);
  if (whole == uint64_t{2} << info.mantissa) {
    whole >>= 1;
    ++exponent;
  }
  if (exponent > bias) {
    const bool towards_zero =
        rounding == Rounding::kToZero || rounding == (value > 0 ? Rounding::kDown : Rounding::kUp);
    return sign | (towards_zero ? infinity - 1 : infinity);
  }
  if (whole < uint64_t{1} << info.mantissa) return sign | static_cast<uint32_t>(whole);
  const auto biased = static_cast<uint32_t>(exponent + bias);
  return sign | biased << info.mantissa |
         (static_cast<uint32_t>(whole) & ((1u << info.mantissa) - 1));
}

}  // namespace fuzz
