// SPDX-License-Identifier: Apache-2.0
// One sum over the bits of many results, the same at every instruction set level and on every
// architecture. Whether the results are right, other tests say; each NaN counts as one.
#include <vector>

#include "elements.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using test::AllValues;
using test::Samples;
using test::Through;

/// FNV-1a.
class BitSum {
 public:
  template <class T>
  BitSum& Add(const std::vector<T>& values) {
    for (const T value : values) Add(test::IsNan(value) ? uint64_t{0x7ff8} : test::BitsOf(value));
    return *this;
  }
  uint64_t sum() const { return sum_; }

 private:
  void Add(uint64_t word) { sum_ = (sum_ ^ word) * 0x100000001b3u; }
  uint64_t sum_ = 0xcbf29ce484222325u;
};

/// A float in each 4093.
std::vector<float> Floats() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4093)
    x.push_back(test::BitCast<float>(static_cast<uint32_t>(bits)));
  return x;
}

template <class T>
uint64_t SumOfFunctions(const std::vector<T>& x) {
  BitSum bits;
  bits.Add(Through<T>(x, [](auto& c, auto& a) { TEXP(c, a); }));
  bits.Add(Through<T>(x, [](auto& c, auto& a) { TLOG<LogAlgorithm::DEFAULT>(c, a); }));
  bits.Add(Through<T>(x, [](auto& c, auto& a) { TSQRT(c, a); }));
  bits.Add(Through<T>(x, [](auto& c, auto& a) { TRSQRT(c, a); }));
  bits.Add(Through<T>(x, [](auto& c, auto& a) { TRECIP(c, a); }));
  return bits.sum();
}

template <class T>
uint64_t SumOfArithmetic(bool a5 = test::kA3) {
  const auto x = Samples<T>(100'003, 1, 0), y = Samples<T>(100'003, 2, 1);
  BitSum bits;
  bits.Add(Through<T>(x, y, [](auto& c, auto& a, auto& b) { TADD(c, a, b); }, a5));
  bits.Add(Through<T>(x, y, [](auto& c, auto& a, auto& b) { TSUB(c, a, b); }, a5));
  bits.Add(Through<T>(x, y, [](auto& c, auto& a, auto& b) { TMUL(c, a, b); }, a5));
  bits.Add(Through<T>(x, y, [](auto& c, auto& a, auto& b) { TMAX(c, a, b); }, a5));
  bits.Add(Through<T>(x, y, [](auto& c, auto& a, auto& b) { TMIN(c, a, b); }, a5));
  return bits.sum();
}

template <class To, class From>
uint64_t SumOfConversions(const std::vector<From>& x) {
  BitSum bits;
  for (const RoundMode mode : {RoundMode::CAST_RINT, RoundMode::CAST_ROUND, RoundMode::CAST_FLOOR,
                               RoundMode::CAST_CEIL, RoundMode::CAST_TRUNC}) {
    for (const SaturationMode saturation : {SaturationMode::ON, SaturationMode::OFF}) {
      bits.Add(Through<To>(x, [&](auto& c, auto& a) { TCVT(c, a, mode, saturation); }));
    }
  }
  return bits.sum();
}

/// Sums of 500 columns, and of the 48 products of a column, whose order matters.
template <class T>
uint64_t SumOfSums() {
  test::Random random(7);
  std::vector<float> sums;
  test::OnCore([&] {
    test::VecTile<T, 8, 512> src(8, 500);
    test::VecTile<T, 8, 16> dst(8, 1);
    TASSIGN(src, 0);
    TASSIGN(dst, 65536);
    test::Fill(src, [&](int, int) { return random.NextFloat() * random.NextFloat(); });
    TROWSUM(dst, src, src);
    for (int row = 0; row < 8; ++row) sums.push_back(static_cast<float>(test::At(dst, row, 0)));
  });
  test::OnCube([&] {
    test::Acc<float, 32, 32> c(32, 32);
    test::LeftZz<T, 32, 48> a(32, 48);
    test::Right<T, 48, 32> b(48, 32);
    TASSIGN(c, 0);
    TASSIGN(a, 0);
    TASSIGN(b, 0);
    test::Fill(a, [&](int, int) { return random.NextFloat() / 3; });
    test::Fill(b, [&](int, int) { return random.NextFloat() / 7; });
    TMATMUL(c, a, b);
    for (int row = 0; row < 32; ++row) {
      for (int col = 0; col < 32; ++col) sums.push_back(test::At(c, row, col));
    }
  });
  return BitSum().Add(sums).sum();
}

TEST(SameBits, OfFunctions) {
  EXPECT_EQ(SumOfFunctions(AllValues<half>()), 0x21c2f9d0a3f3b83cu);
  EXPECT_EQ(SumOfFunctions(Floats()), 0x1724505618a25e06u);
}

TEST(SameBits, OfArithmetic) {
  EXPECT_EQ(SumOfArithmetic<half>(), 0x9633a6473c398003u);
  EXPECT_EQ(SumOfArithmetic<float>(), 0x4c8cdab7b6cd23ecu);
  EXPECT_EQ(SumOfArithmetic<bfloat16_t>(test::kA5), 0xdbe07cf8abf4c64eu);
  EXPECT_EQ(SumOfArithmetic<int16_t>(), 0x88aafef952323299u);
}

TEST(SameBits, OfConversions) {
  EXPECT_EQ(SumOfConversions<half>(Floats()), 0x71cef22eae3203bcu);
  EXPECT_EQ(SumOfConversions<bfloat16_t>(Floats()), 0x9cddd261eceae303u);
  EXPECT_EQ(SumOfConversions<int32_t>(Floats()), 0x287ac9855fced3f1u);
  EXPECT_EQ(SumOfConversions<float>(AllValues<half>()), 0x0b9585f3d0d4a325u);
  EXPECT_EQ(SumOfConversions<float>(AllValues<bfloat16_t>()), 0x70651f2a2d422325u);
  EXPECT_EQ(SumOfConversions<int16_t>(AllValues<half>()), 0x5899213891893825u);
}

TEST(SameBits, OfSumsAndProducts) {
  EXPECT_EQ(SumOfSums<half>(), 0xdfa1478793749839u);
  EXPECT_EQ(SumOfSums<float>(), 0xab157ddcaa5d6bbdu);
}

}  // namespace
