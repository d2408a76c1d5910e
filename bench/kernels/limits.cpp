// SPDX-License-Identifier: Apache-2.0
// What a core of this machine does at most: plain loops over its memory and in its registers.
// Compiled with -ffp-contract=fast.
#include <pto/pto-inst.hpp>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace {

#if defined(__AVX512F__)
constexpr int kLanesBytes = 64;
#elif defined(__AVX__)
constexpr int kLanesBytes = 32;
#else
constexpr int kLanesBytes = 16;
#endif
typedef float Lanes __attribute__((vector_size(kLanesBytes)));
constexpr int kLanes = kLanesBytes / sizeof(float);

/// The compiler must take it that somebody looked at memory.
void Touch() { asm volatile("" ::: "memory"); }

}  // namespace

/// z = x + y on n elements, times over; n is a multiple of 16.
AICORE void add_into_cache(float* __restrict x, float* __restrict y, float* __restrict z, int64_t n,
                           int64_t times) {
  for (int64_t time = 0; time < times; ++time) {
    for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];
    Touch();
  }
}

/// The same with stores that leave the cache as it is, where the processor has them.
AICORE void add_past_cache(float* __restrict x, float* __restrict y, float* __restrict z, int64_t n,
                           int64_t times) {
  for (int64_t time = 0; time < times; ++time) {
    for (int64_t i = 0; i < n; i += 16) {
#ifdef __AVX__
      for (int64_t at = i; at < i + 16; at += 8) {
        _mm256_stream_ps(z + at, _mm256_add_ps(_mm256_load_ps(x + at), _mm256_load_ps(y + at)));
      }
#else
      for (int64_t at = i; at < i + 16; ++at) z[at] = x[at] + y[at];
#endif
    }
#ifdef __AVX__
    _mm_sfence();
#endif
    Touch();
  }
}

/// As many operations (a multiply-add is two) in registers.
AICORE void multiply_adds(int64_t operations, float* out) {
  constexpr int kChains = 12;  // enough to hide the latency, within 16 registers
  Lanes sums[kChains];
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = Lanes{} + static_cast<float>(chain);
  const Lanes factor = Lanes{} + 0.5f;  // the sums stay near 1
  const int64_t steps = operations / (2 * kLanes * kChains);
  for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 12
    for (int chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * factor + factor;
  }
  for (const Lanes& sum : sums) *out += sum[0];
}
