// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "runtime_test.hpp"

namespace npu_test {
namespace {

const npuKernel& Load(const char* path, const char* symbol) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const void* kernel = dlsym(library, symbol);
  if (kernel == nullptr) throw std::runtime_error(dlerror());
  return *static_cast<const npuKernel*>(kernel);
}

TEST(Libraries, OneHiddenAndOneNotShareTheCurrentCoreAndAreBothCounted) {
  const npuKernel& hidden = Load(NPU_TEST_HIDDEN, "npu_kernel_seen_hidden");
  const npuKernel& exported = Load(NPU_TEST_DEFAULT, "npu_kernel_seen_default");
  const OwnStream stream;
  uint64_t by_hidden[2] = {};
  uint64_t by_exported[2] = {};
  ASSERT_OK(npuInstructionCountStart());
  ASSERT_OK(Launch(stream, hidden, 1, &by_hidden[0]));
  ASSERT_OK(Launch(stream, exported, 1, &by_exported[0]));
  ASSERT_OK(npuStreamSynchronize(stream));
  ASSERT_OK(npuInstructionCountStop());
  EXPECT_NE(by_hidden[0], 0u);
  EXPECT_EQ(by_hidden[0], by_exported[0]);  // one variable
  EXPECT_NE(by_hidden[1], 0u);
  EXPECT_EQ(by_hidden[1], by_exported[1]);  // the core that one ended on runs the other

  uint64_t executions = 0;
  uint64_t elements = 0;
  ASSERT_OK(npuInstructionCountGet("TEST_TWO", &executions, &elements));
  EXPECT_EQ(executions, 2u);
  EXPECT_EQ(elements, 14u);

  ASSERT_OK(Launch(stream, hidden, 1, &by_hidden[0]));
  ASSERT_OK(npuStreamSynchronize(stream));
  ASSERT_OK(npuInstructionCountGet("TEST_TWO", &executions, &elements));
  EXPECT_EQ(executions, 2u);  // stopped
  ASSERT_OK(npuInstructionCountStart());
  ASSERT_OK(npuInstructionCountGet("TEST_TWO", &executions, &elements));
  EXPECT_EQ(executions, 0u);  // starting clears
  ASSERT_OK(npuInstructionCountStop());
  EXPECT_EQ(npuInstructionCountGet(nullptr, &executions, &elements), NPU_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace npu_test
