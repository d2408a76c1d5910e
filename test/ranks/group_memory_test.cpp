// SPDX-License-Identifier: Apache-2.0
#include "ranks/group_memory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "group.hpp"

namespace npu::ranks {
namespace {

using test::OnRanks;

TEST(GroupMemory, IsNoOtherFile) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const GroupAddress address = GroupMemory::AddressOf(fileno(file));
  std::string error;
  EXPECT_EQ(GroupMemory::Open(address, 0, &error), nullptr);
  EXPECT_NE(error.find("got another file"), std::string::npos) << error;
  EXPECT_EQ(std::filesystem::file_size("/proc/self/fd/" + std::to_string(fileno(file))), 0u);
  std::fclose(file);
}

TEST(GroupMemory, IsAsLongAsTheLongestRankSays) {
  for (int round = 0; round < 50; ++round) {
    const Memory memory;
    const GroupAddress address = memory.Of(0, 2).address;
    OnRanks(4, [&](uint32_t rank) {
      std::string error;
      GroupMemory::Open(address, size_t{rank + 1} << 20, &error);
      return error;
    });
    struct stat status = {};
    ASSERT_EQ(fstat(address.descriptor, &status), 0);
    ASSERT_EQ(static_cast<size_t>(status.st_size), kStateBytes + (size_t{4} << 20));
  }
}

TEST(GroupAddress, IsReadFromItsText) {
  GroupAddress address;
  ASSERT_TRUE(GroupAddress::Parse("12:3:4567890123", &address));
  EXPECT_EQ(address.ToText(), "12:3:4567890123");
  for (const char* text : {"", "12", "12:3", "0:3:4", "12:-1:4", "12:3:4 ", "12:3:4:5", "a:b:c"}) {
    EXPECT_FALSE(GroupAddress::Parse(text, &address)) << text;
  }
}

}  // namespace
}  // namespace npu::ranks
