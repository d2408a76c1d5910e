// SPDX-License-Identifier: Apache-2.0
#include "npu/error.hpp"

#include <gtest/gtest.h>

#include <string>

#include "npu/issue.hpp"

namespace npu {
namespace {

std::string Raised(void (*call)()) {
  try {
    call();
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "no fault";
}

class Error : public ::testing::Test {
 protected:
  Error() {
    core_.kernel = "my_add";
    core_.block_idx = 3;
    core_.instruction = 17;
  }
  ~Error() override { current_core = nullptr; }
  Core core_;
};

TEST_F(Error, NamesKernelBlockAndInstruction) {
  current_core = &core_;
  EXPECT_EQ(Raised([] { RaiseFault("TADD", "dst of 8 columns", "16"); }),
            "my_add, block 3, instruction 17: TADD: expected dst of 8 columns, got 16");
}

TEST_F(Error, NamesTheCoreOfAMixedBlock) {
  core_.sub_block_num = 2;
  core_.sub_block_id = 1;
  EXPECT_STREQ(Where(core_).c_str(), "my_add, block 3, vector core 1, instruction 17");
  core_.type = CoreType::kCube;
  EXPECT_STREQ(Where(core_).c_str(), "my_add, block 3, cube core, instruction 17");
}

TEST_F(Error, OutsideOfAKernelNamesTheOperationAlone) {
  EXPECT_EQ(Raised([] { RunningCore("TADD"); }),
            "TADD: expected a call from a kernel that was launched, got a call from host code");
}

}  // namespace
}  // namespace npu
