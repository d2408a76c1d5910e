// SPDX-License-Identifier: Apache-2.0
// The environment is read once per process: each case is a forked child of a process that never
// uses the device.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>

#include "child.hpp"
#include "npu/host_core.hpp"
#include "runtime_test.hpp"

namespace npu_test {
namespace {

/// What body returns in a child whose environment has variable = value.
std::string With(const char* variable, const char* value,
                 const std::function<std::string()>& body) {
  return InChild([&] {
    setenv(variable, value, 1);
    return body();
  });
}

std::string DeviceCount() {
  int count = 0;
  return npuGetDeviceCount(&count) == NPU_SUCCESS ? std::to_string(count)
                                                  : npuGetLastErrorMessage();
}

std::string Soc() {
  const char* name = nullptr;
  int cube = 0;
  int vector = 0;
  if (npuGetSocName(&name) != NPU_SUCCESS || npuGetCoreCount(&cube, &vector) != NPU_SUCCESS) {
    return npuGetLastErrorMessage();
  }
  return std::string(name) + " " + std::to_string(cube) + " " + std::to_string(vector);
}

std::string LaunchOne(const npuKernel& kernel) {
  npuStream_t stream = nullptr;
  if (npuStreamGetDefault(0, &stream) != NPU_SUCCESS) return npuGetLastErrorMessage();
  if (Launch(stream, kernel, 1) != NPU_SUCCESS)
    return std::string("launch: ") + npuGetLastErrorMessage();
  if (npuStreamSynchronize(stream) != NPU_SUCCESS) return npuGetLastErrorMessage();
  return "done";
}

TEST(Environment, DeviceCountIsTwoUnlessSet) {
  EXPECT_EQ(With("NPU_DEVICE_COUNT", "", DeviceCount), "2");
  EXPECT_EQ(With("NPU_DEVICE_COUNT", "64", DeviceCount), "64");
}

TEST(Environment, AWrongDeviceCountIsAnErrorOfEveryCall) {
  for (const char* wrong : {"0", "65", "two", "2x"}) {
    const std::string expected =
        std::string("NPU_DEVICE_COUNT: expected an integer 1 to 64, got ") + wrong;
    EXPECT_EQ(With("NPU_DEVICE_COUNT", wrong, DeviceCount), expected);
    EXPECT_EQ(With("NPU_DEVICE_COUNT", wrong, [] { return LaunchOne(npu_kernel_empty); }),
              expected);
  }
}

TEST(Environment, SocIsAscend910B1UnlessSet) {
  EXPECT_EQ(With("NPU_SOC", "", Soc), "Ascend910B1 24 48");
  EXPECT_EQ(With("NPU_SOC", "ascend910b4", Soc), "Ascend910B4 20 40");
  EXPECT_EQ(With("NPU_SOC", "Ascend950", Soc), "Ascend950PR 32 64");
  EXPECT_EQ(With("NPU_SOC", "Ascend950PR_9599", Soc), "Ascend950PR 32 64");
  EXPECT_EQ(With("NPU_SOC", "Ascend950PR9599", Soc),
            "NPU_SOC: expected one of Ascend910B1, Ascend910B2, Ascend910B3, Ascend910B4, "
            "Ascend950PR, got Ascend950PR9599");
  EXPECT_EQ(With("NPU_SOC", "Ascend310", Soc),
            "NPU_SOC: expected one of Ascend910B1, Ascend910B2, Ascend910B3, Ascend910B4, "
            "Ascend950PR, got Ascend310");
}

TEST(Environment, CheckIsOffLimitsOrHazards) {
  const auto launch = [] { return LaunchOne(npu_kernel_misaligned_tile); };
  EXPECT_EQ(With("NPU_CHECK", "off", launch), "done");
  for (const char* strict : {"limits", "hazards", ""}) {
    const std::string got = With("NPU_CHECK", strict, launch);
    EXPECT_EQ(got.find("misaligned_tile, block 0"), 0u) << got;
    EXPECT_NE(got.find("TASSIGN: expected "), std::string::npos) << got;
  }
  EXPECT_EQ(With("NPU_CHECK", "strict", DeviceCount),
            "NPU_CHECK: expected one of off, limits, hazards, got strict");
}

TEST(Environment, HazardKindsAreNamed) {
  for (const char* right : {"", "order", "order,unwritten,overlap,flag,range,vector_order"}) {
    EXPECT_EQ(With("NPU_HAZARD_KINDS", right, DeviceCount), "2");
  }
  for (const char* wrong : {"races", "order,", ",", "order, flag"}) {
    EXPECT_EQ(With("NPU_HAZARD_KINDS", wrong, DeviceCount),
              std::string("NPU_HAZARD_KINDS: expected some of order, unwritten, overlap, flag, "
                          "range, vector_order, parted by commas, got ") +
                  wrong);
  }
}

TEST(Environment, LaunchBlockingReturnsTheFaultFromTheLaunch) {
  const auto launch = [] { return LaunchOne(npu_kernel_throw_int); };
  EXPECT_EQ(With("ASCEND_LAUNCH_BLOCKING", "1", launch).rfind("launch: throw_int, block 0", 0), 0u);
  EXPECT_EQ(With("ASCEND_LAUNCH_BLOCKING", "0", launch).rfind("throw_int, block 0", 0), 0u);
}

TEST(Environment, ASpinWithoutProgressIsNamedAfterTheTimeout) {
  const std::string got = With("NPU_SPIN_TIMEOUT_MS", "100", [] {
    uint32_t flag = 0;
    npuStream_t stream = nullptr;
    if (npuStreamGetDefault(0, &stream) != NPU_SUCCESS)
      return std::string(npuGetLastErrorMessage());
    if (Launch(stream, npu_kernel_poll, 3, &flag, 0u) != NPU_SUCCESS)
      return std::string(npuGetLastErrorMessage());
    const auto start = std::chrono::steady_clock::now();
    const npuError_t error = npuStreamSynchronize(stream);
    std::string text = npuGetLastErrorMessage();
    if (error != NPU_ERROR_DEADLOCK) text += " | expected NPU_ERROR_DEADLOCK";
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(2)) text += " | too late";
    if (LaunchOne(npu_kernel_empty) != "done") text += " | the next launch does not work";
    return text;
  });
  EXPECT_EQ(got.find("poll, block "), 0u) << got;
  EXPECT_NE(got.find("dcci: expected the memory that it polls to change, got no progress of any "
                     "core in 100 ms"),
            std::string::npos)
      << got;
  EXPECT_EQ(got.find(" | "), std::string::npos) << got;
}

TEST(Environment, AWrongValueStopsHostCodeToo) {
  const auto begin = [] {
    npu::EnableHostCores();
    npu::EndHostKernel();  // throws nothing: there is no core to end
    std::string texts;
    for (int turn = 0; turn < 2; ++turn) {
      try {
        npu::CoreOfHostCode("TADD");
        texts += "no fault;";
      } catch (const std::exception& error) {
        texts += std::string(error.what()) + ";";
      }
    }
    return texts;
  };
  const std::string check = "NPU_CHECK: expected one of off, limits, hazards, got loud;";
  EXPECT_EQ(With("NPU_CHECK", "loud", begin), check + check);
  EXPECT_EQ(With("NPU_SOC", "foo", begin).find("NPU_SOC: expected one of Ascend910B1, "), 0u);
}

TEST(Environment, AWaitOfHostCodeWithoutProgressIsNamedAfterTheTimeout) {
  const auto wait = [] {
    npu::EnableHostCores();
    npu::Core& core = npu::CoreOfHostCode("TWAIT");
    for (int turn = 0; turn < 2; ++turn) {  // a wait that follows has its own time
      ++core.instruction;
      const auto start = std::chrono::steady_clock::now();
      try {
        for (;;) core.scheduler->Yield(core, "TWAIT for a signal");
      } catch (const std::exception& error) {
        if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(100)) {
          return std::string("too early");
        }
        if (turn == 1) return std::string(error.what());
      }
    }
    return std::string("no fault");
  };
  EXPECT_EQ(With("NPU_SPIN_TIMEOUT_MS", "100", wait),
            "host code, block 0, instruction 2: TWAIT for a signal: expected the memory that it "
            "polls to change, got no progress of any core of host code in 100 ms");
}

}  // namespace
}  // namespace npu_test
