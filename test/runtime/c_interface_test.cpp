// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

extern "C" int RunFromC(uint32_t blocks);

namespace {

TEST(CInterface, LaunchesAKernelFromC11) { EXPECT_EQ(RunFromC(20), 20); }

}  // namespace
