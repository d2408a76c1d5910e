// SPDX-License-Identifier: Apache-2.0
// Writes its arguments to memory, each into a slot of eight bytes.
#include <cstring>
#include <pto/pto-inst.hpp>

struct Pair {
  int32_t first;
  double second;
};

enum class Mode : uint8_t { kOff, kOn };

namespace {

template <class T>
AICORE void Write(__gm__ int64_t* out, int slot, T value) {
  std::memcpy(out + slot, &value, sizeof(value));
}

}  // namespace

extern "C" __global__ AICORE void integers(__gm__ int64_t* out, int8_t a, uint8_t b, int16_t c,
                                           uint16_t d, int32_t e, uint32_t f, int64_t g, uint64_t h,
                                           bool i, Mode j) {
  Write(out, 0, a);
  Write(out, 1, b);
  Write(out, 2, c);
  Write(out, 3, d);
  Write(out, 4, e);
  Write(out, 5, f);
  Write(out, 6, g);
  Write(out, 7, h);
  Write(out, 8, i);
  Write(out, 9, j);
}

extern "C" __global__ AICORE void floats(__gm__ int64_t* out, half a, bfloat16_t b, float c,
                                         double d) {
  Write(out, 0, a);
  Write(out, 1, b);
  Write(out, 2, c);
  Write(out, 3, d);
}

extern "C" __global__ AICORE void structs(__gm__ int64_t* out, Pair pair, __gm__ Pair* more,
                                          __gm__ void* none) {
  Write(out, 0, pair.first);
  Write(out, 1, pair.second);
  Write(out, 2, more->second);
  Write(out, 3, none == nullptr);
}

extern "C" __global__ AICORE void pointers(__gm__ int64_t* out, __gm__ half*, __gm__ bfloat16_t*,
                                           __gm__ int32_t*, __gm__ uint16_t*, __gm__ bool*) {
  Write(out, 0, int64_t{1});
}

extern "C" __global__ AICORE void wide_numbers(__gm__ int64_t* out, __int128 a, long double b,
                                               __gm__ __int128*, __gm__ long double*) {
  Write(out, 0, a);
  Write(out, 2, b);
}
