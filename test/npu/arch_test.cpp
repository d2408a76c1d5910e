// SPDX-License-Identifier: Apache-2.0
#include "npu/arch.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "npu/instruction.hpp"

namespace npu {
namespace {

size_t Capacity(const Arch& arch, Space space) { return arch.capacity[static_cast<int>(space)]; }

TEST(Arch, IsFoundByItsExactName) {
  for (const Arch& arch : kArchTable) EXPECT_EQ(FindArch(arch.soc), &arch);
  EXPECT_EQ(FindArch("Ascend910"), nullptr);
  EXPECT_EQ(FindArch(""), nullptr);
}

TEST(Arch, NamesAreUnique) {
  std::set<std::string> names;
  for (const Arch& arch : kArchTable) EXPECT_TRUE(names.insert(arch.soc).second) << arch.soc;
}

TEST(Arch, UnifiedBufferIsTheChipsAndNotLarger) {
  EXPECT_EQ(Capacity(*FindArch("Ascend910B1"), Space::kUb), 192u * 1024);
  EXPECT_EQ(Capacity(*FindArch("Ascend950PR"), Space::kUb), 256u * 1024);
}

TEST(Arch, MemoryIsTheChips) {
  EXPECT_EQ(FindArch("Ascend910B1")->memory, 64 * kGiB);
  EXPECT_EQ(FindArch("Ascend910B4")->memory, 32 * kGiB);
}

TEST(Arch, AMixedBlockHasItsTwoVectorCores) {
  for (const Arch& arch : kArchTable) EXPECT_EQ(arch.vector_cores, 2 * arch.cube_cores) << arch.soc;
}

TEST(Arch, EachSpaceHoldsWholeTiles) {
  for (const Arch& arch : kArchTable) {
    for (int space = 0; space < kOnChipSpaces; ++space) {
      // A2/A3 has no products with scales.
      const bool lacks =
          arch.generation == Generation::kA3 &&
          (space == static_cast<int>(Space::kScaleA) || space == static_cast<int>(Space::kScaleB));
      EXPECT_EQ(arch.capacity[space] == 0, lacks) << arch.soc;
      EXPECT_EQ(arch.capacity[space] % kTileAlignment, 0u) << arch.soc;
    }
  }
}

TEST(Arch, SpacesAndPipesHaveNames) {
  EXPECT_STREQ(SpaceName(Space::kUb), "UB");
  EXPECT_STREQ(SpaceName(Space::kGm), "GM");
  EXPECT_STREQ(PipeName(Pipe::kS), "PIPE_S");
  EXPECT_STREQ(PipeName(Pipe::kAll), "PIPE_ALL");
}

}  // namespace
}  // namespace npu
