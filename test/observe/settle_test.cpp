// SPDX-License-Identifier: Apache-2.0
// What the checker keeps: as many records as differ, not as many as a run has accesses.
#include <gtest/gtest.h>

#include <vector>

#include "observe/hazard_cross_core.hpp"
#include "observe/hazard_findings.hpp"
#include "observe/hazard_launch.hpp"

namespace {

using npu::Pipe;

constexpr uint64_t kTile = 8192;                 // bytes
constexpr uint64_t kMemory = uint64_t{1} << 40;  // an address

/// A vector core without a runtime.
class FakeCore {
 public:
  FakeCore() {
    core.arch = &npu::kArchTable[0];
    core.block_num = 64;
    core.scratchpad[0] = reinterpret_cast<std::byte*>(uint64_t{1} << 30);
  }
  npu::Core core;
};

npu::GlobalMemory Everything(const void*, const void*) {
  return {nullptr, reinterpret_cast<const void*>(UINTPTR_MAX), false};
}

class Settle : public testing::Test {
 protected:
  Settle() { npu::HazardFindings::Clear(); }

  void Access(Pipe pipe, bool is_write, uint64_t address, const char* name = "ACCESS") {
    npu::Access access;
    access.space = npu::Space::kGm;
    access.is_write = is_write;
    access.begin = reinterpret_cast<const void*>(kMemory + address);
    access.rows = 1;
    access.row_bytes = access.pitch_bytes = kTile;
    hazards.OnInstruction(fake.core, {name, pipe, name, {}, &access, 1});
  }
  void Order(Pipe source, Pipe destination, int id) {
    hazards.OnSetFlag(fake.core, source, destination, id, nullptr);
    hazards.OnWaitFlag(fake.core, source, destination, id);
  }
  /// One tile of a kernel with two buffers: load, compute, store.
  void CopyTile(uint64_t from, uint64_t to, int buffer) {
    hazards.OnWaitFlag(fake.core, Pipe::kMte3, Pipe::kMte2, buffer);
    Access(Pipe::kMte2, false, from, "LOAD");
    Order(Pipe::kMte2, Pipe::kV, buffer);
    Order(Pipe::kV, Pipe::kMte3, buffer);
    Access(Pipe::kMte3, true, to, "STORE");
    hazards.OnSetFlag(fake.core, Pipe::kMte3, Pipe::kMte2, buffer, nullptr);
  }
  void BeginLoop() {
    for (int b = 0; b < 2; ++b) {
      hazards.OnSetFlag(fake.core, Pipe::kMte3, Pipe::kMte2, b, nullptr);
    }
  }
  void EndLoop() {
    for (int b = 0; b < 2; ++b) hazards.OnWaitFlag(fake.core, Pipe::kMte3, Pipe::kMte2, b);
  }

  FakeCore fake;
  npu::LaunchHazards hazards{npu::kHazardDefault, {"kernel", &Everything, nullptr}};
};

TEST_F(Settle, ALongLoopOverMemoryKeepsFewRecords) {
  size_t most = 0;
  BeginLoop();
  for (uint64_t i = 0; i < 100'000; ++i) {
    CopyTile(i * kTile, (i + 1'000'000) * kTile, static_cast<int>(i % 2));
    most = std::max(most, hazards.global_records());
  }
  EndLoop();
  EXPECT_LE(most, 4097u);
  EXPECT_EQ(npu::HazardFindings::Count(), 0u);
}

TEST_F(Settle, ALoopOverTheSameMemoryKeepsItsRecords) {
  BeginLoop();
  for (uint64_t i = 0; i < 100'000; ++i) {
    CopyTile(i % 8 * kTile, (i % 8 + 8) * kTile, static_cast<int>(i % 2));
  }
  EndLoop();
  EXPECT_EQ(hazards.global_records(), 16u);
}

TEST_F(Settle, TellsApartWhatStillMatters) {
  BeginLoop();
  for (uint64_t i = 0; i < 5'000; ++i) {
    CopyTile(i * kTile, (i + 1'000'000) * kTile, static_cast<int>(i % 2));
  }
  // Known to MTE2: all stores but the last two. The others are not, though all have settled.
  Access(Pipe::kMte2, false, (1'000'000 + 100) * kTile, "GOOD");
  EXPECT_EQ(npu::HazardFindings::Count(), 0u);
  Access(Pipe::kMte2, false, (1'000'000 + 4'999) * kTile, "BAD");
  ASSERT_EQ(npu::HazardFindings::Count(), 1u);
  Access(Pipe::kS, false, (1'000'000 + 100) * kTile, "OF_S");  // which has waited for nothing
  EXPECT_EQ(npu::HazardFindings::Count(), 2u);
}

TEST_F(Settle, BlocksThatHaveEndedStayInConflictWithLaterOnes) {
  for (uint32_t block = 0; block < 64; ++block) {
    fake.core.block_idx = block;
    BeginLoop();
    for (uint64_t i = 0; i < 200; ++i) {
      const uint64_t tile = block * 200 + i;
      CopyTile(tile * kTile, (tile + 1'000'000) * kTile, static_cast<int>(i % 2));
    }
    EndLoop();
    if (block < 63) hazards.OnKernelEnd(fake.core);
  }
  EXPECT_LE(hazards.global_records(), 4097u);
  EXPECT_EQ(npu::HazardFindings::Count(), 0u);
  Access(Pipe::kMte2, false, (1'000'000 + 77) * kTile, "OF_BLOCK_0");
  ASSERT_EQ(npu::HazardFindings::Count(), 1u);
  npu::HazardFindings::Finding finding = {};
  ASSERT_TRUE(npu::HazardFindings::Get(0, &finding));
  EXPECT_EQ(finding.hazard.first.block, 0u);
  EXPECT_EQ(finding.hazard.second.block, 63u);
}

TEST(CrossCore, FlagsThatAreTakenLeaveNothing) {
  constexpr npu::FlagScope kScopes[] = {
      npu::FlagScope::kAllBlocks, npu::FlagScope::kVectorSubBlocks, npu::FlagScope::kBlockGroup};
  npu::Core core;
  core.block_num = 3;
  core.sub_block_num = 2;
  npu::HazardCrossCore flags;
  for (core.block_idx = 0; core.block_idx < core.block_num; ++core.block_idx) {
    for (core.sub_block_id = 0; core.sub_block_id < 2; ++core.sub_block_id) {
      const npu::HazardTask task = 3 * core.block_idx + 1 + core.sub_block_id;
      const auto done = npu::HazardClock().Export(task);
      for (int scope = 0; scope < 3; ++scope)
        flags.SetFlag(core, task, kScopes[scope], scope, {}, done);
    }
  }
  EXPECT_EQ(flags.flags(), 6u + 6u + 3u);
  for (npu::HazardTask task = 0; task < 9; ++task) {
    const bool is_cube = task % 3 == 0;
    for (int id = is_cube ? 2 : 0; id < (is_cube ? 3 : 2); ++id) {
      EXPECT_NE(flags.TakeFlag(task, id), nullptr);
      EXPECT_EQ(flags.TakeFlag(task, id), nullptr);
    }
  }
  EXPECT_EQ(flags.flags(), 0u);
}

TEST_F(Settle, WhatAFlagBetweenCoresToldIsKept) {
  hazards.OnSetFlag(fake.core, Pipe::kMte3, Pipe::kMte2, 0, nullptr);
  Access(Pipe::kMte3, true, 0);
  hazards.OnArrive(fake.core, {npu::SyncGroup::kVectorCores, nullptr, 0});
  Access(Pipe::kMte3, true, kTile);
  FakeCore second;
  second.core.block_idx = 1;
  second.core.scratchpad[0] += 1 << 20;
  hazards.OnArrive(second.core, {npu::SyncGroup::kVectorCores, nullptr, 0});
  hazards.OnLeave(second.core, {npu::SyncGroup::kVectorCores, nullptr, 0});
  std::swap(fake.core, second.core);
  for (uint64_t i = 0; i < 5'000; ++i) Access(Pipe::kMte2, false, (i * 2 + 10) * kTile);
  Access(Pipe::kMte2, false, 0, "TOLD");
  EXPECT_EQ(npu::HazardFindings::Count(), 0u);
  Access(Pipe::kMte2, false, kTile, "NOT_TOLD");
  EXPECT_EQ(npu::HazardFindings::Count(), 1u);
}

}  // namespace
