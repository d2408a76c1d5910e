// SPDX-License-Identifier: Apache-2.0
// Global memory that transfers may touch.
#include <algorithm>
#include <vector>

#include "device_block.hpp"
#include "plain_tile.hpp"

namespace {

using namespace pto;
using Block = test::Block<float>;
using test::ExpectContains;
using test::Matrix;
using test::OnCore;
using test::VecTile;

/// Stores 8 rows of one float each, step floats apart from target on, then loads them.
test::Body Touch(float* target, int64_t step = 1) {
  return [target, step] {
    VecTile<float, 8, 8> tile(8, 1);
    TASSIGN(tile, 0);
    TEXPANDS(tile, 2.0f);
    Matrix<float> column(target, {8, 1}, {step, 1});
    TSTORE(column, tile);
    TLOAD(tile, column);
  };
}

uint64_t UnknownTransfers() {
  uint64_t transfers = 0;
  EXPECT_EQ(npuGetUnknownTransferCount(&transfers), NPU_SUCCESS);
  return transfers;
}

TEST(GlobalMemory, OfNpuMallocIsUsableToItsEnd) {
  const Block block(256);
  const uint64_t before = UnknownTransfers();
  OnCore(Touch(block.data()));
  OnCore(Touch(block.data() + 56));
  OnCore(Touch(block.data() + 63, -1));
  OnCore(Touch(block.data(), 9));
  EXPECT_EQ(UnknownTransfers(), before);
}

TEST(GlobalMemory, BehindOrBeforeAnAllocationIsNamed) {
  const Block block(256);
  ExpectContains(test::FaultOf(Touch(block.data() + 57)),
                 "TSTORE: expected global memory within the 256 bytes of its allocation, got bytes "
                 "228 to 260");
  ExpectContains(test::FaultOf(Touch(block.data() + 6, -1)), "got bytes -4 to 28");
  ExpectContains(test::FaultOf(Touch(block.data() + 1, 9)), "got bytes 4 to 260");
}

TEST(GlobalMemory, OfLargeBlocksEndsWithTheirPages) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const Block block(kHugePage + 4);
  float* end = block.data() + 2 * kHugePage / sizeof(float);
  OnCore(Touch(end - 8));
  ExpectContains(test::FaultOf(Touch(end - 7)), "within the 4194304 bytes of its allocation");
}

TEST(GlobalMemory, ThatNobodyKnowsIsCounted) {
  std::vector<float> memory(8);
  const uint64_t before = UnknownTransfers();
  OnCore(Touch(memory.data()), 3);
  EXPECT_EQ(UnknownTransfers(), before + 6);
  EXPECT_EQ(memory, std::vector<float>(8, 2.0f));
}

npuError_t RunWithRanges(const test::Body& body, const std::vector<npuMemoryRange>& ranges,
                         uint32_t flags = 0) {
  static const npuKernelPass kPass = {
      [](const void* args) { (**static_cast<const test::Body* const*>(args))(); },
      sizeof(test::Body*), npu::kCoreLayout};
  static const npuKernel kKernel = {"kernel_under_test", &kPass, nullptr};
  const test::Body* pointer = &body;
  npuLaunchConfig config = {};
  config.kernel = &kKernel;
  config.block_dim = 1;
  config.flags = flags;
  config.args = &pointer;
  config.args_bytes = sizeof(pointer);
  config.ranges = ranges.data();
  config.range_count = ranges.size();
  EXPECT_EQ(npuStreamGetDefault(0, &config.stream), NPU_SUCCESS);
  const npuError_t error = npuLaunchKernelWithConfig(&config);
  return error != NPU_SUCCESS ? error : npuStreamSynchronize(config.stream);
}

TEST(GlobalMemory, ThatALaunchNamesIsBounded) {
  std::vector<float> memory(64);
  float* middle = memory.data() + 16;
  const std::vector<npuMemoryRange> one = {{middle, middle + 16, nullptr}};
  EXPECT_EQ(RunWithRanges(Touch(middle + 8), one), NPU_SUCCESS);
  EXPECT_EQ(RunWithRanges(Touch(middle + 9), one), NPU_ERROR_KERNEL_FAULT);
  ExpectContains(npuGetLastErrorMessage(),
                 "TSTORE: expected global memory within the 64 bytes of its allocation, got bytes "
                 "36 to 68");
  EXPECT_EQ(RunWithRanges(Touch(middle + 16), one), NPU_SUCCESS);  // nobody knows that
  std::vector<npuMemoryRange> many;
  for (int i = 0; i < 12; ++i) many.push_back({middle + i, middle + i + 1, nullptr});
  many.push_back({memory.data() + 40, memory.data() + 48, nullptr});
  EXPECT_EQ(RunWithRanges(Touch(memory.data() + 40), many), NPU_SUCCESS);
  EXPECT_EQ(RunWithRanges(Touch(middle + 11), many), NPU_ERROR_KERNEL_FAULT);
}

TEST(GlobalMemory, OutsideOfTheRangesThatALaunchKeepsToIsNamed) {
  const Block block(256);
  const std::vector<npuMemoryRange> ranges = {{block.data() + 8, block.data() + 16, nullptr},
                                              {block.data() + 32, block.data() + 40, nullptr}};
  const auto touch = [&](int64_t at) {
    return RunWithRanges(Touch(block.data() + at), ranges, NPU_LAUNCH_ONLY_RANGES);
  };
  EXPECT_EQ(touch(32), NPU_SUCCESS);
  for (const auto& [at, got] : std::vector<std::pair<int64_t, const char*>>{
           {0, "got one 32 bytes before the nearest tensor"},
           {18, "got one 8 bytes past the end of the nearest tensor"},
           {30, "got one 8 bytes before the nearest tensor"},
           {40, "got one 0 bytes past the end of the nearest tensor"}}) {
    EXPECT_EQ(touch(at), NPU_ERROR_KERNEL_FAULT);
    ExpectContains(npuGetLastErrorMessage(),
                   "TSTORE: expected an address within the tensors of the launch");
    ExpectContains(npuGetLastErrorMessage(), got);
  }
}

TEST(GlobalMemory, NullIsAFaultAlsoNearMemoryThatNobodyKnows) {
  std::vector<float> memory(8);
  ExpectContains(test::FaultOf([&] {
                   Touch(memory.data())();
                   Touch(nullptr)();
                 }),
                 "instruction 5: TSTORE: expected an address of global memory, got a null pointer");
}

TEST(GlobalMemory, RangesThatEndBeforeTheyBeginAreRefused) {
  float memory[2];
  EXPECT_EQ(RunWithRanges([] {}, {{memory + 1, memory}}), NPU_ERROR_INVALID_VALUE);
  ExpectContains(npuGetLastErrorMessage(),
                 "expected memory ranges that end behind their begin, got range 0");
}

TEST(GlobalMemory, ARangeWithinAnAllocationGoesFirst) {
  const Block block(256);
  EXPECT_EQ(RunWithRanges(Touch(block.data() + 4), {{block.data(), block.data() + 10}}),
            NPU_ERROR_KERNEL_FAULT);
  EXPECT_EQ(RunWithRanges(Touch(block.data() + 12), {{block.data(), block.data() + 10}}),
            NPU_SUCCESS);
}

}  // namespace
