// SPDX-License-Identifier: Apache-2.0
// What the processor refuses in a kernel is a fault of the kernel.
#include <gtest/gtest.h>
#include <signal.h>

#include <climits>
#include <thread>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

TEST(Signal, OfAMemoryAccessIsAFault) {
  const OwnStream stream;
  for (int round = 0; round < 100; ++round) {
    ASSERT_OK(Launch(stream, npu_kernel_store_at, 3, uint64_t{0}));
    EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
                 "store_at, block 0, instruction 0: memory access outside of instructions: "
                 "expected an address of the process, got a null pointer (SIGSEGV)");
    ASSERT_OK(Launch(stream, npu_kernel_store_at, 1, uint64_t{0x1230}));
    EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT, "got 0x1230 (SIGSEGV)");
    ASSERT_OK(Launch(stream, npu_kernel_store_at, 1, uint64_t{1} << 60));
    EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT, "(SIGSEGV)");
    ExpectGoodLaunch(stream);
  }
}

TEST(Signal, OfAStackThatOverflowsIsAFault) {
  const OwnStream stream;
  uint32_t depth = 0;
  ASSERT_OK(Launch(stream, npu_kernel_recurse_for_ever, 1, &depth));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "recurse_for_ever, block 0, instruction 0: expected a kernel that needs at most the "
               "256 KiB of a core's stack, got one that needs more");
  ExpectGoodLaunch(stream);
}

#if defined(__x86_64__)  // other processors give a quotient
TEST(Signal, OfADivisionIsAFault) {
  const OwnStream stream;
  int32_t quotient = 0;
  for (const auto& [dividend, divisor] : {std::pair{10, 0}, std::pair{INT_MIN, -1}}) {
    ASSERT_OK(Launch(stream, npu_kernel_divide, 1, &quotient, dividend, divisor));
    EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
                 "divide, block 0, instruction 0: integer division: expected a divisor other than "
                 "0 and a quotient that its type holds, got SIGFPE");
  }
  ASSERT_OK(Launch(stream, npu_kernel_divide, 1, &quotient, 10, 3));
  EXPECT_OK(npuStreamSynchronize(stream));
  EXPECT_EQ(quotient, 3);
}
#endif

TEST(Signal, OfATrapIsAFault) {
  const OwnStream stream;
  ASSERT_OK(Launch(stream, npu_kernel_builtin_trap, 2));
  EXPECT_ERROR(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT,
               "builtin_trap, block 0, instruction 0: expected no trap and no instruction that the "
               "processor refuses, got SIG");
  ExpectGoodLaunch(stream);
}

TEST(Signal, InThreadsThatComeAndGoIsAFault) {
  for (int round = 0; round < 20; ++round) {
    std::thread([] {
      const OwnStream stream;
      ASSERT_OK(Launch(stream, npu_kernel_store_at, 1, uint64_t{0}));
      EXPECT_EQ(npuStreamSynchronize(stream), NPU_ERROR_KERNEL_FAULT);
      ExpectGoodLaunch(stream);
    }).join();
  }
}

TEST(Signal, OutsideOfKernelsEndsTheProcess) {
  const OwnStream stream;
  ExpectGoodLaunch(stream);
  volatile uintptr_t address = 16;
  EXPECT_EXIT(*reinterpret_cast<volatile int*>(address) = 1, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(raise(SIGFPE), testing::KilledBySignal(SIGFPE), "");
  EXPECT_EXIT(raise(SIGILL), testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(raise(SIGTRAP), testing::KilledBySignal(SIGTRAP), "");
#if defined(__x86_64__)
  EXPECT_EXIT(asm volatile("int3"), testing::KilledBySignal(SIGTRAP), "");
#elif defined(__aarch64__)
  EXPECT_EXIT(asm volatile("brk #0"), testing::KilledBySignal(SIGTRAP), "");
#endif
}

}  // namespace
}  // namespace npu_test
