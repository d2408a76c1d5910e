// SPDX-License-Identifier: Apache-2.0
// Vectors of elements through an instruction, a piece at a time, and what tests compare them with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "on_core.hpp"

namespace test {

template <class To, class From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// Elements of a piece, which fill a row of a tile.
inline constexpr int kPiece = 256;

template <class T>
using Row = VecTile<T, 1, kPiece>;

template <class T>
void Place(Row<T>& tile, int address, const T* from, int count) {
  tile.SetValidShape(1, count);
  TASSIGN(tile, address);
  std::memcpy(static_cast<void*>(tile.data()), from, count * sizeof(T));
}

/// Makes the running core that of an A5 for as long as it lives.
class AsA5 {
 public:
  AsA5() : before_(npu::current_core->arch) {
    npu::current_core->arch = npu::FindArch("Ascend950PR");
  }
  ~AsA5() { npu::current_core->arch = before_; }
  AsA5(const AsA5&) = delete;
  AsA5& operator=(const AsA5&) = delete;

 private:
  const npu::Arch* before_;
};

inline constexpr bool kA3 = false, kA5 = true;

/// z[i] = op(x[i], y[i]) by op(tile of z, tile of x, tile of y); the last piece is ragged.
template <class Z, class X, class Y, class Op>
std::vector<Z> Through(const std::vector<X>& x, const std::vector<Y>& y, const Op& op,
                       bool a5 = kA3, uint32_t flags = 0) {
  std::vector<Z> z(x.size());
  OnCore(
      [&] {
        std::optional<AsA5> chip;
        if (a5) chip.emplace();
        Row<X> a(1, 0);
        Row<Y> b(1, 0);
        Row<Z> c(1, 0);
        for (size_t i = 0; i < x.size(); i += kPiece) {
          const int count = static_cast<int>(std::min<size_t>(kPiece, x.size() - i));
          Place(a, 0, x.data() + i, count);
          Place(b, 8192, y.data() + i, count);
          Place(c, 16384, z.data() + i, count);
          op(c, a, b);
          std::memcpy(static_cast<void*>(z.data() + i), c.data(), count * sizeof(Z));
        }
      },
      1, flags);
  return z;
}

/// The same for one operand.
template <class Z, class X, class Op>
std::vector<Z> Through(const std::vector<X>& x, const Op& op, bool a5 = kA3, uint32_t flags = 0) {
  return Through<Z>(x, x, [&](auto& c, auto& a, auto&) { op(c, a); }, a5, flags);
}

/// All values of a 16-bit type.
template <class T>
std::vector<T> AllValues() {
  std::vector<T> all(65536);
  for (int i = 0; i < 65536; ++i) all[i] = BitCast<T>(static_cast<uint16_t>(i));
  return all;
}

/// Values with random bits, and in front all pairs of special values: the first of a pair (which 0)
/// or the second.
template <class T>
std::vector<T> Samples(size_t count, unsigned seed, int which = 0) {
  std::vector<T> special;
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    special = {0,
               1,
               static_cast<T>(-1),
               2,
               7,
               Limits::max(),
               Limits::min(),
               static_cast<T>(Limits::max() / 2),
               static_cast<T>(Limits::min() + 1)};
  } else {
    const float tiny = std::is_same_v<T, half> ? 0x1p-24f : 0x1p-133f;
    const float large = std::is_same_v<T, half> ? 65504.0f : 0x1.fep127f;
    for (const float value : {0.0f, 1.0f, 0.5f, 1.0f / 3, tiny, 3 * tiny, large, large / 2,
                              static_cast<float>(INFINITY), std::nanf("")}) {
      special.push_back(static_cast<T>(value));
      special.push_back(static_cast<T>(-value));
    }
  }
  std::vector<T> values;
  for (const T first : special)
    for (const T second : special) values.push_back(which == 0 ? first : second);
  std::mt19937_64 random(seed);
  while (values.size() < count) {
    const uint64_t bits = random();
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    values.push_back(value);
  }
  return values;
}

const auto kSum = [](auto a, auto b) { return a + b; };
const auto kDifference = [](auto a, auto b) { return a - b; };
const auto kProduct = [](auto a, auto b) { return a * b; };
const auto kQuotient = [](auto a, auto b) { return a / b; };
const auto kGreater = [](auto a, auto b) { return a > b || a != a ? a : b; };
const auto kLesser = [](auto a, auto b) { return a < b || a != a ? a : b; };

template <class T>
bool IsNan(T value) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isnan(static_cast<double>(value));
}

/// True if got has the bits of expected, or both are NaN.
template <class T>
bool Same(T got, T expected) {
  return (IsNan(got) && IsNan(expected)) || std::memcmp(&got, &expected, sizeof(T)) == 0;
}

template <class T, class Plain, class X, class Y>
void ExpectEach(const std::vector<T>& got, const std::vector<X>& x, const std::vector<Y>& y,
                const Plain& plain) {
  ASSERT_EQ(got.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(Same(got[i], plain(x[i], y[i])))
        << "element " << i << ": " << static_cast<double>(x[i]) << ", " << static_cast<double>(y[i])
        << " gave " << static_cast<double>(got[i]) << ", expected "
        << static_cast<double>(plain(x[i], y[i]));
  }
}

/// Value of a number in T, rounded once: half and bfloat16 from double.
template <class T>
T Rounded(double value) {
  if constexpr (std::is_same_v<T, bfloat16_t>) {
    // To odd in float, then to nearest: rounded once.
    float wide = static_cast<float>(value);
    uint32_t bits = BitCast<uint32_t>(wide);
    if (std::fabs(static_cast<double>(wide)) > std::fabs(value)) wide = BitCast<float>(--bits);
    if (static_cast<double>(wide) != value && !std::isnan(value)) wide = BitCast<float>(bits | 1);
    return bfloat16_t(wide);
  } else {
    return static_cast<T>(value);
  }
}

inline constexpr size_t kCount = 20'011;  // ragged

/// Runs op on pairs of T and compares each element with plain.
template <class T, class Op, class Plain>
void Check(const Op& op, const Plain& plain, bool a5 = kA3, uint32_t flags = 0) {
  const auto x = Samples<T>(kCount, 1, 0), y = Samples<T>(kCount, 2, 1);
  ExpectEach(Through<T>(x, y, op, a5, flags), x, y, plain);
}

/// plain works in double; its result is rounded to T.
template <class T, class Op, class Plain>
void CheckFloat(const Op& op, const Plain& plain, bool a5 = kA3) {
  Check<T>(
      op,
      [&](T a, T b) { return Rounded<T>(plain(static_cast<double>(a), static_cast<double>(b))); },
      a5);
}

template <class Op, class Plain>
void CheckFloats(const Op& op, const Plain& plain) {
  CheckFloat<float>(op, plain);
  CheckFloat<half>(op, plain);
}

/// plain works in 128 bits, of which the low ones count.
template <class T, class Op, class Plain>
void CheckInt(const Op& op, const Plain& plain, bool a5 = kA3) {
  Check<T>(op, [&](T a, T b) { return static_cast<T>(plain(__int128{a}, __int128{b})); }, a5);
}

/// Sentence of op on tiles of T.
template <class T, class Op>
std::string FaultOn(const Op& op) {
  return FaultOf([&] {
    VecTile<T, 8, 32> tile(8, 32);
    TASSIGN(tile, 0);
    op(tile, tile, tile);
  });
}

/// Steps between two floats of one type, counted through zero.
template <class T>
int64_t UlpsBetween(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 2, int16_t, int32_t>;
  const auto order = [](T value) -> int64_t {
    const Bits bits = BitCast<Bits>(value);
    return bits < 0 ? -static_cast<int64_t>(bits & std::numeric_limits<Bits>::max()) : bits;
  };
  return std::abs(order(a) - order(b));
}

}  // namespace test
