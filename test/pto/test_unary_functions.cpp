// SPDX-License-Identifier: Apache-2.0
// Transcendental functions against those of the C library in double.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::AllValues;
using test::IsNan;
using test::Rounded;
using test::Through;
using test::UlpsBetween;

template <class T>
void ExpectWithinAnUlp(const std::vector<T>& got, const std::vector<T>& x,
                       double (*function)(double)) {
  for (size_t i = 0; i < x.size(); ++i) {
    const T expected = Rounded<T>(function(static_cast<double>(x[i])));
    if (IsNan(expected)) {
      ASSERT_TRUE(IsNan(got[i])) << static_cast<double>(x[i]);
      continue;
    }
    ASSERT_FALSE(IsNan(got[i])) << static_cast<double>(x[i]);
    ASSERT_LE(UlpsBetween(got[i], expected), 1)
        << static_cast<double>(x[i]) << " gave " << static_cast<double>(got[i]);
    // Zeros, infinities and signs are exact.
    if (std::isinf(static_cast<double>(expected)) || static_cast<double>(x[i]) == 0) {
      ASSERT_TRUE(test::Same(got[i], expected)) << static_cast<double>(x[i]);
    }
  }
}

/// A float in each 1021 and those around the ends of the functions' ranges.
std::vector<float> Floats() {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021)
    x.push_back(test::BitCast<float>(static_cast<uint32_t>(bits)));
  for (const float end : {0.0f, 1.0f, 0x1p-149f, 0x1p-126f, 88.7228394f, -87.3365479f, -103.972084f,
                          0x1.fffffep127f, 0x1.6a09e6p0f, 0x1.6a09e6p-1f, 89.0f, -104.0f}) {
    for (int step = -50; step <= 50; ++step) {
      const float near = test::BitCast<float>(test::BitCast<uint32_t>(end) + step);
      x.push_back(near);
      x.push_back(-near);
    }
  }
  x.insert(x.end(), {INFINITY, -INFINITY, std::nanf("")});
  return x;
}

double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Exp(double x) { return std::exp(x); }
double Log(double x) { return std::log(x); }

template <class F>
std::vector<bfloat16_t> OnBfloat16(const F& f) {
  const auto x = AllValues<bfloat16_t>();
  std::vector<bfloat16_t> z(x.size());
  npu::simd::Map(f, x.size(), z.data(), x.data());
  return z;
}

TEST(Texp, IsWithinAnUlp) {
  const auto op = [](auto& c, auto& a) { TEXP(c, a); };
  ExpectWithinAnUlp(Through<half>(AllValues<half>(), op), AllValues<half>(), Exp);
  ExpectWithinAnUlp(Through<float>(Floats(), op), Floats(), Exp);
  ExpectWithinAnUlp(OnBfloat16(npu::simd::Exp{}), AllValues<bfloat16_t>(), Exp);
}

TEST(Tlog, IsWithinAnUlp) {
  const auto op = [](auto& c, auto& a) { TLOG<LogAlgorithm::DEFAULT>(c, a); };
  ExpectWithinAnUlp(Through<half>(AllValues<half>(), op), AllValues<half>(), Log);
  ExpectWithinAnUlp(Through<float>(Floats(), op), Floats(), Log);
  ExpectWithinAnUlp(OnBfloat16(npu::simd::Log{}), AllValues<bfloat16_t>(), Log);
}

TEST(Trsqrt, IsWithinAnUlp) {
  const auto op = [](auto& c, auto& a) { TRSQRT(c, a); };
  ExpectWithinAnUlp(Through<half>(AllValues<half>(), op), AllValues<half>(), Rsqrt);
  ExpectWithinAnUlp(Through<float>(Floats(), [](auto& c, auto& a) { TRSQRT(c, a, c); }), Floats(),
                    Rsqrt);
  ExpectWithinAnUlp(OnBfloat16(npu::simd::Rsqrt{}), AllValues<bfloat16_t>(), Rsqrt);
}

TEST(Functions, GiveTheSameBitsInEveryPlaceOfATile) {
  std::vector<float> x(200);
  for (int i = 0; i < 200; ++i) x[i] = 0.37f * static_cast<float>(i % 7);
  const auto z = Through<float>(x, [](auto& c, auto& a) { TEXP(c, a); });
  for (int i = 7; i < 200; ++i) ASSERT_TRUE(test::Same(z[i], z[i % 7]));
}

TEST(Functions, TakeDoubleIfTheLaunchAsksForIt) {
  const std::vector<double> x = {0.1, -0.0, 700.0, INFINITY};
  const auto z =
      Through<double>(x, [](auto& c, auto& a) { TEXP(c, a); }, test::kA3, NPU_LAUNCH_FLOAT64);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(z[i], std::exp(x[i]));
}

}  // namespace
