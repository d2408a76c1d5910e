// SPDX-License-Identifier: Apache-2.0
#include "npu/entry.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace npu {
namespace {

struct Seen {
  uint8_t a;
  double b;
  uint16_t c;
  const void* d;
  float e;
};
Seen seen;

void Kernel(uint8_t a, double b, uint16_t c, const void* d, float e) { seen = {a, b, c, d, e}; }
void NoParams() { seen.a = 99; }
void OneByte(uint8_t a) { seen.a = a; }

TEST(Entry, ReadsParametersWhereACStructHasThem) {
  const Seen args = {7, 2.5, 300, &seen, -1.0f};
  Entry<&Kernel>::kPass.run(&args);
  EXPECT_EQ(seen.a, 7);
  EXPECT_EQ(seen.b, 2.5);
  EXPECT_EQ(seen.c, 300);
  EXPECT_EQ(seen.d, &seen);
  EXPECT_EQ(seen.e, -1.0f);
}

TEST(Entry, CountsBytesUpToTheLastParameter) {
  EXPECT_EQ(Entry<&Kernel>::kPass.args_bytes, offsetof(Seen, e) + sizeof(float));
  EXPECT_EQ(Entry<&NoParams>::kPass.args_bytes, 0u);
  EXPECT_EQ(Entry<&OneByte>::kPass.args_bytes, 1u);
}

TEST(Entry, NeedsNoAlignmentOfTheBytes) {
  const Seen args = {7, 2.5, 300, &seen, 4.0f};
  alignas(16) unsigned char bytes[sizeof(Seen) + 1];
  std::memcpy(bytes + 1, &args, sizeof(args));
  Entry<&Kernel>::kPass.run(bytes + 1);
  EXPECT_EQ(seen.b, 2.5);
  EXPECT_EQ(seen.e, 4.0f);
}

TEST(Entry, CallsAKernelWithoutParameters) {
  Entry<&NoParams>::kPass.run(nullptr);
  EXPECT_EQ(seen.a, 99);
}

}  // namespace
}  // namespace npu
