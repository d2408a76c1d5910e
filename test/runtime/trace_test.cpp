// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "npu_trace.h"
#include "runtime_test.hpp"

extern "C" {
extern const npuKernel npu_kernel_ordered_add;
}

namespace npu_test {
namespace {

constexpr int kTile = 64;
constexpr uint64_t kRoom = 1 << 20;

class Trace : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_OK(npuTraceStop());
    EXPECT_OK(npuTraceForget());
  }

  /// Records ordered_add of two blocks: x + 1000, each TLOAD, TLOAD, TADD, TSTORE.
  void Record(const npuTraceConfig& config) {
    std::vector<float> x(2 * kTile, 1.0f), y(2 * kTile, 1000.0f), z(2 * kTile);
    ASSERT_OK(npuTraceStart(&config));
    ASSERT_OK(Launch(stream_, npu_kernel_ordered_add, 2, z.data(), x.data(), y.data(), 1, 1));
    ASSERT_OK(npuStreamSynchronize(stream_));
    ASSERT_OK(npuTraceStop());
  }
  static size_t Steps(bool is_whole = true) {
    size_t steps = 0, tiles = 0;
    int whole = -1;
    EXPECT_OK(npuTraceCount(&steps, &tiles, &whole));
    EXPECT_EQ(whole, is_whole ? 1 : 0);
    return steps;
  }

  OwnStream stream_;
};

TEST_F(Trace, HasStepsWithTheirOperands) {
  Record({1, kRoom, nullptr, 0, nullptr, 0, nullptr, 0});
  ASSERT_EQ(Steps(), 8u);
  npuTraceStep step = {};
  ASSERT_OK(npuTraceGetStep(2, &step));
  EXPECT_STREQ(step.name, "TADD");
  EXPECT_STREQ(step.kernel, "ordered_add");
  EXPECT_EQ(step.order, 3u);
  EXPECT_EQ(step.has_results, 1);
  ASSERT_EQ(step.operand_count, 3u);
  npuTraceOperand sum = {};
  ASSERT_OK(npuTraceGetOperand(2, 0, &sum));
  EXPECT_EQ(sum.is_write, 1);
  ASSERT_EQ(sum.value_bytes, kTile * sizeof(float));
  EXPECT_EQ(static_cast<const float*>(sum.values)[kTile - 1], 1001.0f);
  npuTracePart part = {};
  ASSERT_OK(npuTraceGetPart(2, 0, 0, &part));
  EXPECT_EQ(part.offset, 2 * kTile * 4);
  EXPECT_EQ(part.rows * part.row_bytes, sum.value_bytes);
  ASSERT_EQ(sum.tile_count, 1u);
  npuTraceTile tile = {};
  ASSERT_OK(npuTraceGetTile(sum.tiles[0], &tile));
  EXPECT_STREQ(tile.dtype, "float");
  EXPECT_EQ(tile.cols, kTile);
  npuTraceOperand unknown = {};  // memory that nobody has made known
  ASSERT_OK(npuTraceGetOperand(0, 1, &unknown));
  EXPECT_STREQ(unknown.space, "GM");
  EXPECT_EQ(unknown.values, nullptr);
}

TEST_F(Trace, HasWhatWasAskedForAlone) {
  const char* const instructions[] = {"TADD"};
  const uint32_t blocks[] = {1};
  Record({0, kRoom, nullptr, 0, blocks, 1, instructions, 1});
  ASSERT_EQ(Steps(), 1u);
  npuTraceOperand sum = {};
  ASSERT_OK(npuTraceGetOperand(0, 0, &sum));
  EXPECT_EQ(sum.values, nullptr);
  const char* const kernels[] = {"another"};
  Record({1, kRoom, kernels, 1, nullptr, 0, nullptr, 0});
  EXPECT_EQ(Steps(), 0u);
}

TEST_F(Trace, EndsWhenItsRoomIsUsedUp) {
  Record({1, 2000, nullptr, 0, nullptr, 0, nullptr, 0});
  const size_t steps = Steps(false);
  EXPECT_GT(steps, 0u);
  EXPECT_LT(steps, 8u);
}

TEST_F(Trace, IsGoneWhenItIsForgotten) {
  Record({1, kRoom, nullptr, 0, nullptr, 0, nullptr, 0});
  ASSERT_OK(npuTraceForget());
  EXPECT_EQ(Steps(), 0u);
}

TEST_F(Trace, RefusesWhatIsNotThere) {
  EXPECT_ERROR(npuTraceStart(nullptr), NPU_ERROR_INVALID_VALUE, "expected a configuration");
  const npuTraceConfig config = {1, kRoom, nullptr, 2, nullptr, 0, nullptr, 0};
  EXPECT_ERROR(npuTraceStart(&config), NPU_ERROR_INVALID_VALUE, "a list for each count");
  EXPECT_ERROR(npuTraceCount(nullptr, nullptr, nullptr), NPU_ERROR_INVALID_VALUE, "got NULL");
  Record({1, kRoom, nullptr, 0, nullptr, 0, nullptr, 0});
  npuTraceStep step = {};
  npuTraceOperand operand = {};
  npuTracePart part = {};
  npuTraceTile tile = {};
  EXPECT_ERROR(npuTraceGetStep(8, &step), NPU_ERROR_INVALID_VALUE, "a step below 8, got 8");
  EXPECT_ERROR(npuTraceGetStep(0, nullptr), NPU_ERROR_INVALID_VALUE, "got NULL");
  EXPECT_ERROR(npuTraceGetOperand(2, 3, &operand), NPU_ERROR_INVALID_VALUE, "below 3, got 3");
  EXPECT_ERROR(npuTraceGetPart(9, 0, 0, &part), NPU_ERROR_INVALID_VALUE, "below 0, got 0");
  EXPECT_ERROR(npuTraceGetTile(99, &tile), NPU_ERROR_INVALID_VALUE, "below 3, got 99");
}

}  // namespace
}  // namespace npu_test
