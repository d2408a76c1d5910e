// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

class Event : public ::testing::Test {
 protected:
  Event() {
    EXPECT_OK(npuEventCreate(&start_));
    EXPECT_OK(npuEventCreate(&end_));
  }
  ~Event() override {
    EXPECT_OK(npuEventDestroy(start_));
    EXPECT_OK(npuEventDestroy(end_));
  }

  OwnStream stream_;
  npuEvent_t start_ = nullptr;
  npuEvent_t end_ = nullptr;
};

TEST_F(Event, WithoutARecordHasHappened) {
  EXPECT_OK(npuEventQuery(start_));
  EXPECT_OK(npuEventSynchronize(start_));
  EXPECT_OK(npuStreamWaitEvent(stream_, start_));
}

TEST_F(Event, HappensBehindTheWorkBeforeIt) {
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream_, npu_kernel_append, 1, &list[0], 1u));
  ASSERT_OK(npuEventRecord(end_, stream_));
  ASSERT_OK(Launch(stream_, npu_kernel_append, 1, &list[0], 2u));
  ASSERT_OK(npuEventSynchronize(end_));
  EXPECT_EQ(list[0], 1u);
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_EQ(list[0], 2u);
}

TEST_F(Event, ALoopThatOnlyQueriesEnds) {
  ASSERT_OK(Launch(stream_, npu_kernel_work, 1, 4u, 1000u));
  ASSERT_OK(npuEventRecord(end_, stream_));
  EXPECT_EQ(npuEventQuery(end_), NPU_ERROR_NOT_READY);
  npuError_t error = NPU_ERROR_NOT_READY;
  while (error == NPU_ERROR_NOT_READY) error = npuEventQuery(end_);
  EXPECT_EQ(error, NPU_SUCCESS);
}

TEST_F(Event, MeasuresTheTimeBetweenTwoRecords) {
  ASSERT_OK(npuEventRecord(start_, stream_));
  ASSERT_OK(Launch(stream_, npu_kernel_work, 1, 5u, 2000u));
  ASSERT_OK(npuEventRecord(end_, stream_));
  float milliseconds = -1;
  EXPECT_ERROR(npuEventElapsedTime(&milliseconds, start_, end_), NPU_ERROR_NOT_READY,
               "npuEventElapsedTime: expected");
  ASSERT_OK(npuEventSynchronize(end_));
  ASSERT_OK(npuEventElapsedTime(&milliseconds, start_, end_));
  EXPECT_GE(milliseconds, 10.0f);  // the kernel spins five times 2 ms
}

TEST_F(Event, ElapsedTimeNeedsTwoRecords) {
  float milliseconds = 0;
  EXPECT_ERROR(npuEventElapsedTime(&milliseconds, start_, end_), NPU_ERROR_INVALID_VALUE,
               "a recorded start event");
  ASSERT_OK(npuEventRecord(start_, stream_));
  ASSERT_OK(npuStreamSynchronize(stream_));
  EXPECT_ERROR(npuEventElapsedTime(&milliseconds, start_, end_), NPU_ERROR_INVALID_VALUE,
               "a recorded end event");
  EXPECT_ERROR(npuEventElapsedTime(nullptr, start_, start_), NPU_ERROR_INVALID_VALUE, "NULL");
}

TEST_F(Event, TheNewestRecordCounts) {
  uint32_t list[4] = {};
  ASSERT_OK(npuEventRecord(end_, stream_));
  ASSERT_OK(Launch(stream_, npu_kernel_append, 1, &list[0], 1u));
  ASSERT_OK(npuEventRecord(end_, stream_));
  ASSERT_OK(npuEventSynchronize(end_));
  EXPECT_EQ(list[0], 1u);
}

TEST_F(Event, MayBeDestroyedWhileItsRecordIsPending) {
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  ASSERT_OK(Launch(stream_, npu_kernel_empty, 1));
  ASSERT_OK(npuEventRecord(event, stream_));
  ASSERT_OK(npuEventDestroy(event));
  EXPECT_ERROR(npuEventQuery(event), NPU_ERROR_INVALID_VALUE, "one that was destroyed");
  EXPECT_OK(npuStreamSynchronize(stream_));
}

TEST_F(Event, RefusesWhatIsNoEvent) {
  EXPECT_ERROR(npuEventRecord(nullptr, stream_), NPU_ERROR_INVALID_VALUE,
               "expected an event, got NULL");
  EXPECT_ERROR(npuEventRecord(start_, nullptr), NPU_ERROR_INVALID_VALUE,
               "expected a stream, got NULL");
  EXPECT_ERROR(npuStreamWaitEvent(stream_, nullptr), NPU_ERROR_INVALID_VALUE, "NULL");
  EXPECT_ERROR(npuEventCreate(nullptr), NPU_ERROR_INVALID_VALUE, "NULL");
}

}  // namespace
}  // namespace npu_test
