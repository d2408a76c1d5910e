// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

void AppendFromHost(void* list) {
  auto* cells = static_cast<uint32_t*>(list);
  cells[++cells[0]] = 1000;
}

TEST(Stream, RunsItsWorkInOrder) {
  const OwnStream stream;
  uint32_t list[8] = {};
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 1u));
  ASSERT_OK(npuLaunchHostFunction(stream, &AppendFromHost, &list[0]));
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 2u));
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[0], 3u);
  EXPECT_EQ(list[1], 1u);
  EXPECT_EQ(list[2], 1000u);
  EXPECT_EQ(list[3], 2u);
}

TEST(Stream, AQueryKeepsTheLastFailure) {
  const OwnStream stream, recorded;
  npuEvent_t event = nullptr;
  uint32_t list[4] = {};
  ASSERT_OK(npuEventCreate(&event));
  ASSERT_OK(npuEventRecord(event, recorded));
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 7u));
  EXPECT_ERROR(npuLaunchKernel(nullptr, 1, nullptr, 0, stream), NPU_ERROR_INVALID_VALUE, "kernel");
  const std::string failure = npuGetLastErrorMessage();
  EXPECT_EQ(npuEventQuery(event), NPU_ERROR_NOT_READY);
  EXPECT_EQ(npuStreamQuery(stream), NPU_ERROR_NOT_READY);
  EXPECT_EQ(npuGetLastErrorMessage(), failure);
  EXPECT_OK(npuStreamSynchronize(stream));
  EXPECT_OK(npuStreamSynchronize(recorded));
  EXPECT_OK(npuEventDestroy(event));
}

TEST(Stream, ALoopThatOnlyQueriesEnds) {
  const OwnStream stream;
  uint32_t list[4] = {};
  for (int round = 1; round <= 3; ++round) {
    list[0] = 0;
    ASSERT_OK(Launch(stream, npu_kernel_work, 1, 20u, 500u));
    ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 7u));
    npuError_t error = npuStreamQuery(stream);
    EXPECT_EQ(error, NPU_ERROR_NOT_READY);
    while (error == NPU_ERROR_NOT_READY) error = npuStreamQuery(stream);
    EXPECT_EQ(error, NPU_SUCCESS);
    EXPECT_EQ(list[1], 7u);
  }
}

TEST(Stream, AFaultInTheBackgroundIsReturnedByTheNextWait) {
  const OwnStream stream;
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
  while (npuStreamQuery(stream) == NPU_ERROR_NOT_READY) {
  }
  EXPECT_EQ(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT);
  ExpectGoodLaunch(stream);
}

TEST(Stream, TakesMoreLaunchesThanItsQueueHolds) {
  const OwnStream stream;
  std::vector<uint32_t> list(6000);
  for (uint32_t i = 0; i < 5000; ++i)
    ASSERT_OK(Launch(stream, npu_kernel_append, 1, list.data(), i));
  EXPECT_GE(list[0], 3900u);  // the bounded queue has run most of it
  ASSERT_OK(npuStreamSynchronize(stream));
  ASSERT_EQ(list[0], 5000u);
  for (uint32_t i = 0; i < 5000; ++i) EXPECT_EQ(list[i + 1], i);
}

TEST(Stream, WaitsForAnEventOfAnotherStream) {
  const OwnStream first;
  const OwnStream second;
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  uint32_t list[8] = {};
  ASSERT_OK(Launch(first, npu_kernel_append, 1, &list[0], 1u));
  ASSERT_OK(npuEventRecord(event, first));
  ASSERT_OK(Launch(first, npu_kernel_append, 1, &list[0], 3u));
  ASSERT_OK(npuStreamWaitEvent(second, event));
  ASSERT_OK(Launch(second, npu_kernel_append, 1, &list[0], 2u));
  ASSERT_OK(npuStreamSynchronize(second));  // runs the first stream up to the event
  EXPECT_EQ(list[0], 2u);
  EXPECT_EQ(list[1], 1u);
  EXPECT_EQ(list[2], 2u);
  ASSERT_OK(npuStreamSynchronize(first));
  EXPECT_EQ(list[0], 3u);
  EXPECT_OK(npuEventDestroy(event));
}

TEST(Stream, WaitCapturesTheRecordOfItsCall) {
  const OwnStream a;
  const OwnStream b;
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  uint32_t list[8] = {};
  ASSERT_OK(npuEventRecord(event, a));
  ASSERT_OK(npuStreamWaitEvent(b, event));
  ASSERT_OK(npuEventRecord(event, b));  // recorded anew, behind the wait: no cycle
  ASSERT_OK(npuStreamWaitEvent(a, event));
  ASSERT_OK(Launch(a, npu_kernel_append, 1, &list[0], 1u));
  ASSERT_OK(npuStreamSynchronize(a));
  ASSERT_OK(npuStreamSynchronize(b));
  EXPECT_EQ(list[0], 1u);
  EXPECT_OK(npuEventDestroy(event));
}

void Synchronize(void* argument) {
  auto** pair = static_cast<void**>(argument);
  *static_cast<npuError_t*>(pair[1]) = npuStreamSynchronize(static_cast<npuStream_t>(pair[0]));
}

TEST(Stream, AWaitInsideAHostFunctionIsAnErrorNotAHang) {
  const OwnStream stream;
  npuError_t error = NPU_SUCCESS;
  void* pair[2] = {static_cast<npuStream_t>(stream), &error};
  ASSERT_OK(npuLaunchHostFunction(stream, &Synchronize, pair));
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(error, NPU_ERROR_INVALID_VALUE);
}

struct Enqueue {
  npuStream_t stream;
  uint32_t list[4] = {};

  static void Run(void* self) {
    auto* enqueue = static_cast<Enqueue*>(self);
    for (int i = 0; i < 3; ++i) {
      EXPECT_OK(Launch(enqueue->stream, npu_kernel_append, 1, &enqueue->list[0], 9u));
      enqueue->list[0] = 0;
    }
  }
};

TEST(Stream, AHostFunctionMayEnqueueOnItsOwnStream) {
  const OwnStream stream;
  Enqueue enqueue{stream};
  ASSERT_OK(npuLaunchHostFunction(stream, &Enqueue::Run, &enqueue));
  ASSERT_OK(npuStreamSynchronize(stream));
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(enqueue.list[0], 3u);
}

TEST(Stream, AReleaseMayWaitForItsOwnStream) {
  const OwnStream stream;
  uint32_t list[4] = {};
  npuError_t error = NPU_ERROR_NOT_READY;
  void* pair[2] = {static_cast<npuStream_t>(stream), &error};
  npuLaunchConfig config = {&npu_kernel_empty, 1,    0,       nullptr, 0, stream,
                            &Synchronize,      pair, nullptr, 0};
  ASSERT_OK(npuLaunchKernelWithConfig(&config));
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 9u));
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(error, NPU_SUCCESS);
  EXPECT_EQ(list[0], 1u);
}

TEST(Stream, BelongsToTheDeviceItWasMadeOn) {
  ASSERT_OK(npuSetDevice(1));
  npuStream_t stream = nullptr;
  ASSERT_OK(npuStreamCreate(&stream));
  ASSERT_OK(npuSetDevice(0));
  int device = -1;
  ASSERT_OK(npuStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 1);
  ASSERT_OK(npuStreamGetDevice(DefaultStream(1), &device));
  EXPECT_EQ(device, 1);
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 9u));
  EXPECT_EQ(npuDeviceQuery(), NPU_SUCCESS);  // device 0
  ASSERT_OK(npuDeviceSynchronize());
  EXPECT_EQ(list[0], 0u);
  ASSERT_OK(npuSetDevice(1));
  EXPECT_EQ(npuDeviceQuery(), NPU_ERROR_NOT_READY);
  ASSERT_OK(npuDeviceSynchronize());
  EXPECT_EQ(npuDeviceQuery(), NPU_SUCCESS);
  EXPECT_EQ(list[0], 1u);
  ASSERT_OK(npuSetDevice(0));
  ASSERT_OK(npuStreamDestroy(stream));
}

TEST(Stream, RefusesWhatIsNoStream) {
  EXPECT_ERROR(npuStreamSynchronize(nullptr), NPU_ERROR_INVALID_VALUE,
               "expected a stream, got NULL");
  EXPECT_ERROR(npuStreamQuery(nullptr), NPU_ERROR_INVALID_VALUE, "NULL");
  EXPECT_ERROR(npuStreamDestroy(DefaultStream()), NPU_ERROR_INVALID_VALUE, "got a default stream");
  EXPECT_ERROR(npuStreamCreate(nullptr), NPU_ERROR_INVALID_VALUE, "NULL");
  npuStream_t stream = nullptr;
  EXPECT_ERROR(npuStreamGetDefault(2, &stream), NPU_ERROR_INVALID_VALUE,
               "expected a device from 0 to 1, got 2");
  EXPECT_ERROR(npuSetDevice(-1), NPU_ERROR_INVALID_VALUE, "got -1");
  EXPECT_ERROR(npuLaunchHostFunction(DefaultStream(), nullptr, nullptr), NPU_ERROR_INVALID_VALUE,
               "a function");
}

}  // namespace
}  // namespace npu_test
