// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

TEST(Fault, IsReturnedOnceByTheNextWaitWithBlockAndInstruction) {
  const OwnStream stream;
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 20, 13u));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "fault_in_block, block 13, instruction 0: TEST: expected another block, got 13");
  EXPECT_OK(npuStreamSynchronize(stream));
  ExpectGoodLaunch(stream);
}

TEST(Fault, DropsTheWorkBehindItAndLetsEventsHappen) {
  const OwnStream stream;
  npuEvent_t event = nullptr;
  ASSERT_OK(npuEventCreate(&event));
  uint32_t list[4] = {};
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 1u));
  ASSERT_OK(npuEventRecord(event, stream));
  ASSERT_OK(Launch(stream, npu_kernel_append, 1, &list[0], 2u));
  EXPECT_EQ(npuEventSynchronize(event), NPU_ERROR_KERNEL_FAULT);
  EXPECT_OK(npuEventQuery(event));
  EXPECT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(list[0], 0u);
  EXPECT_OK(npuEventDestroy(event));
}

TEST(Fault, OfOneStreamDoesNotTouchAnother) {
  const OwnStream bad;
  const OwnStream good;
  ASSERT_OK(Launch(bad, npu_kernel_fault_in_block, 1, 0u));
  ExpectGoodLaunch(good);
  EXPECT_EQ(npuStreamSynchronize(bad), NPU_ERROR_KERNEL_FAULT);
}

TEST(Fault, IsReturnedByDeviceSynchronizeAndByDestroy) {
  npuStream_t stream = nullptr;
  ASSERT_OK(npuStreamCreate(&stream));
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
  while (npuStreamQuery(stream) == NPU_ERROR_NOT_READY) std::this_thread::yield();
  EXPECT_EQ(npuDeviceQuery(), NPU_ERROR_NOT_READY);  // the fault is not told yet
  EXPECT_ERROR(npuDeviceSynchronize(), NPU_ERROR_KERNEL_FAULT, "fault_in_block");
  EXPECT_EQ(npuDeviceQuery(), NPU_SUCCESS);
  EXPECT_OK(npuDeviceSynchronize());
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_block, 1, 0u));
  EXPECT_EQ(npuStreamDestroy(stream), NPU_ERROR_KERNEL_FAULT);
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_INVALID_VALUE, "one that was destroyed");
}

TEST(Fault, InsideAFiberUnwindsTheWaitingCores) {
  const OwnStream stream;
  for (int round = 0; round < 100; ++round) {
    uint32_t destroyed = 0;
    ASSERT_OK(Launch(stream, npu_kernel_fault_among_waiting, 4, &destroyed));
    EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
                 "fault_among_waiting, block 1, vector core 1, instruction 0: TEST: expected an "
                 "answer, got none");
    EXPECT_EQ(destroyed, 6u);  // all that had started: three cores of block 0, three of block 1
    ExpectGoodLaunch(stream);
  }
}

TEST(Fault, ExceptionsOutOfAKernelAreFaults) {
  const OwnStream stream;
  ASSERT_OK(Launch(stream, npu_kernel_throw_runtime_error, 2));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "expected no exception out of the kernel, got thrown by the kernel");
  ASSERT_OK(Launch(stream, npu_kernel_throw_int, 2));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT, "one of unknown type");
  ExpectGoodLaunch(stream);
}

TEST(Fault, InADestructorDoesNotEndTheProcess) {
  const OwnStream stream;
  ASSERT_OK(Launch(stream, npu_kernel_fault_in_destructor, 3));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "fault_in_destructor, block 0, instruction 0: expected no exception out of a "
               "noexcept function, got a destructor that is not quiet");
  ExpectGoodLaunch(stream);
}

TEST(Fault, AKernelThatSwallowsEverythingDoesNotHang) {
  const OwnStream stream;
  ASSERT_OK(Launch(stream, npu_kernel_swallow, 2));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "expected block 0 to swallow, got block 1");
  uint32_t swallowed = 0;
  ASSERT_OK(Launch(stream, npu_kernel_swallow_once, 2, &swallowed));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT, "swallow_once, block 1");
  EXPECT_EQ(swallowed, 1u);
  ExpectGoodLaunch(stream);
}

TEST(Fault, ExceptionsInsideKernelsDoNotMixAcrossSwitches) {
  const OwnStream stream;
  uint32_t errors = 0;
  ASSERT_OK(Launch(stream, npu_kernel_exceptions, 24, &errors, 100u));
  ASSERT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(errors, 0u);
}

void Throw(void*) { throw 1; }

TEST(Fault, AnExceptionOfAHostFunctionIsAnError) {
  const OwnStream stream;
  ASSERT_OK(npuLaunchHostFunction(stream, &Throw, nullptr));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "host function: expected no exception");
  ExpectGoodLaunch(stream);
}

}  // namespace
}  // namespace npu_test
