// SPDX-License-Identifier: Apache-2.0
// The model's arithmetic: an element from elements.
#include <algorithm>
#include <cmath>

#include "model.hpp"

namespace fuzz {
namespace {

uint8_t NanMark(Dtype type) { return static_cast<uint8_t>(kNanOf + static_cast<int>(type)); }

double NumberOf(Dtype type, const Element& element) {
  return element.mark == kKnown ? ValueOf(type, element.bits) : std::nan("");
}

Element OfBits(Fn fn, Dtype type, const Element& a, const Element& b) {
  if (a.mark != kKnown || b.mark != kKnown) return kAnything;
  if (fn == Fn::kAnd) return {a.bits & b.bits};
  if (fn == Fn::kOr) return {a.bits | b.bits};
  if (fn == Fn::kXor) return {a.bits ^ b.bits};
  if (fn == Fn::kNot) return {Wrapped(type, ~static_cast<int64_t>(a.bits))};
  const int64_t value = IntegerOf(type, a.bits), count = IntegerOf(type, b.bits);
  const bool is_within = count >= 0 && count < static_cast<int64_t>(8 * BytesOf(type));
  if (fn == Fn::kShl) {
    if (!is_within) return {0};
    return {Wrapped(type, static_cast<int64_t>(static_cast<uint64_t>(value) << count))};
  }
  if (!is_within) return {value < 0 ? Wrapped(type, -1) : 0};
  return {Wrapped(type, value >> count)};
}

int64_t Quotient(Dtype type, int64_t a, int64_t b) {
  if (b == 0) return a == 0 ? 0 : a > 0 ? GreatestOf(type) : LeastOf(type);
  return std::min(a / b, GreatestOf(type));
}

Element OfIntegers(Fn fn, Dtype type, const Element& x, const Element& y) {
  const int64_t a = IntegerOf(type, x.bits), b = IntegerOf(type, y.bits);
  switch (fn) {
    case Fn::kAdd:
      return {Wrapped(type, a + b)};
    case Fn::kSub:
      return {Wrapped(type, a - b)};
    case Fn::kMul:
      return {
          Wrapped(type, static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)))};
    case Fn::kDiv:
      return {Wrapped(type, Quotient(type, a, b))};
    case Fn::kMax:
      return {Wrapped(type, std::max(a, b))};
    case Fn::kMin:
      return {Wrapped(type, std::min(a, b))};
    case Fn::kAbs:
      return {Wrapped(type, a < 0 ? -a : a)};
    case Fn::kNeg:
      return {Wrapped(type, -a)};
    default:  // kRelu
      return {Wrapped(type, std::max<int64_t>(a, 0))};
  }
}

Element OfFloats(Fn fn, Dtype type, const Element& x, const Element& y) {
  const double a = NumberOf(type, x), b = NumberOf(type, y);
  const Element nan = ElementOf(type, std::nan(""));
  switch (fn) {
    case Fn::kAdd:
      return ElementOf(type, a + b);
    case Fn::kSub:
      return ElementOf(type, a - b);
    case Fn::kMul:
      return ElementOf(type, a * b);
    case Fn::kDiv:
      return ElementOf(type, a / b);
    case Fn::kMax:
      return std::isnan(a) || std::isnan(b) ? nan : a > b ? x : y;
    case Fn::kMin:
      return std::isnan(a) || std::isnan(b) ? nan : a < b ? x : y;
    case Fn::kAbs:
      return ElementOf(type, std::fabs(a));
    case Fn::kNeg:
      return ElementOf(type, -a);
    case Fn::kRelu:
      return std::isnan(a) ? nan : a > 0 ? x : Element{0};
    case Fn::kSqrt:
      return ElementOf(type, std::sqrt(a));
    case Fn::kRecip:
      return ElementOf(type, 1.0 / a);
    default:  // kLeaky
      return a > 0 ? x : ElementOf(type, a * b);
  }
}

}  // namespace

Element ElementOf(Dtype type, double value, Rounding rounding) {
  Element element = {BitsOf(type, value, rounding)};
  if (std::isnan(value)) element.mark = NanMark(type);
  return element;
}

bool IsUsable(Dtype type, const Element& element) {
  return element.mark == kKnown || element.mark == NanMark(type);
}

Element Compute(Fn fn, Dtype type, const Element& a, const Element& b) {
  if (fn == Fn::kAnd || fn == Fn::kOr || fn == Fn::kXor || fn == Fn::kShl || fn == Fn::kShr ||
      fn == Fn::kNot) {
    return OfBits(fn, type, a, b);
  }
  if (!IsUsable(type, a) || !IsUsable(type, b)) return kAnything;
  return IsFloat(type) ? OfFloats(fn, type, a, b) : OfIntegers(fn, type, a, b);
}

bool Compares(Dtype type, int mode, const Element& x, const Element& y) {
  const double a = NumberOf(type, x), b = NumberOf(type, y);
  switch (mode) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
      return a < b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    default:
      return a >= b;
  }
}

Element Convert(Dtype to, Dtype from, const Element& element, int mode) {
  if (!IsUsable(from, element)) return kAnything;
  constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kNearestEven,
                                 Rounding::kTiesAway,    Rounding::kDown,
                                 Rounding::kUp,          Rounding::kToZero};
  const bool saturates = (mode & 8) != 0, is_none = (mode & 7) == 0;
  Rounding rounding = kModes[mode & 7];
  double value = NumberOf(from, element);
  if (IsFloat(to) && to != from) {
    // What float is wide enough for stays, infinities too.
    const bool narrows = to != Dtype::kF32;
    if (saturates && narrows) value = std::clamp(value, -LargestOf(to), LargestOf(to));
    return ElementOf(to, value, rounding);
  }
  if (is_none && !IsFloat(to)) rounding = Rounding::kToZero;
  if (IsFloat(from)) value = ToIntegral(value, rounding);
  if (to == from) return ElementOf(to, value);
  if (std::isnan(value)) return {0};
  if (saturates) {
    value =
        std::clamp(value, static_cast<double>(LeastOf(to)), static_cast<double>(GreatestOf(to)));
  }
  if (value >= 0x1p63) return {Wrapped(to, INT64_MAX)};
  if (value < -0x1p63) return {Wrapped(to, INT64_MIN)};
  return {Wrapped(to, static_cast<int64_t>(value))};
}

}  // namespace fuzz
