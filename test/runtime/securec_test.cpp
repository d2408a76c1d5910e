// SPDX-License-Identifier: Apache-2.0
// Copies and fills with bounds: nothing is written beyond the room that the caller names.
#include "compat/host/securec.h"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(Securec, FillsWithinTheRoom) {
  std::string text(8, 'x');
  EXPECT_EQ(memset_s(text.data(), 4, 'a', 4), EOK);
  EXPECT_EQ(text, "aaaaxxxx");
  EXPECT_EQ(memset_s(text.data(), 6, 'b', 8), ERANGE_AND_RESET);
  EXPECT_EQ(text, "bbbbbbxx");
  EXPECT_EQ(memset_s(nullptr, 4, 0, 4), EINVAL);
}

TEST(Securec, CopiesWholeOrEmptiesTheRoom) {
  std::string text(6, 'x');
  EXPECT_EQ(memcpy_s(text.data(), 4, "abc", 3), EOK);
  EXPECT_EQ(text, "abcxxx");
  EXPECT_EQ(memmove_s(text.data() + 1, 5, text.data(), 3), EOK);
  EXPECT_EQ(text, "aabcxx");
  EXPECT_EQ(memcpy_s(text.data(), 4, "abcdef", 6), ERANGE_AND_RESET);
  EXPECT_EQ(text, std::string("\0\0\0\0xx", 6));
  EXPECT_EQ(memcpy_s(text.data(), 6, nullptr, 1), EINVAL_AND_RESET);
  EXPECT_EQ(text, std::string(6, '\0'));
  EXPECT_EQ(memcpy_s(text.data(), 0, "a", 1), ERANGE);
}

TEST(Securec, CopiesAStringWithItsEnd) {
  char text[4] = "xyz";
  EXPECT_EQ(strcpy_s(text, sizeof(text), "abc"), EOK);
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(strcpy_s(text, sizeof(text), "abcd"), ERANGE_AND_RESET);
  EXPECT_STREQ(text, "");
}

}  // namespace
