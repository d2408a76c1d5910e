// SPDX-License-Identifier: Apache-2.0
// The C ABI: what the cores of a block do, in order.
#include <string>

#include "observe/step_recorder.hpp"
#include "runtime/device.hpp"
#include "runtime/process.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face
using npu::StepRecorder;

static_assert(StepRecorder::kMostSteps == NPU_MAX_RECORDED_STEPS);

namespace {

const char* KindName(StepRecorder::Kind kind) {
  constexpr const char* kNames[] = {
      "instruction",          "set_flag", "wait_flag", "barrier", "set_cross_core_flag",
      "wait_cross_core_flag", "meet"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace

npuError_t npuStepsStart(uint32_t block) {
  return Asking(__func__, [&] {
    StepRecorder::Start(block);
    return NPU_SUCCESS;
  });
}

npuError_t npuStepsStop(void) {
  return Asking(__func__, [] {
    StepRecorder::Stop();
    return NPU_SUCCESS;
  });
}

npuError_t npuStepsCount(size_t* steps) {
  return Asking(__func__, [&](const char* function) {
    if (steps == nullptr) return Invalid(function, "a pointer for the number", "NULL");
    *steps = StepRecorder::Count();
    return NPU_SUCCESS;
  });
}

npuError_t npuStepsStep(size_t index, npuStep* step) {
  return Asking(__func__, [&](const char* function) {
    StepRecorder::Step found;
    if (step == nullptr || !StepRecorder::Get(index, &found)) {
      return Invalid(function,
                     "a pointer and an index below " + std::to_string(StepRecorder::Count()),
                     step == nullptr ? "NULL" : std::to_string(index));
    }
    *step = {KindName(found.kind),
             found.name,
             found.kernel,
             found.core == npu::CoreType::kCube ? "cube" : "vector",
             found.sub_block,
             npu::PipeName(found.pipe),
             npu::PipeName(found.destination),
             found.id,
             found.call_site};
    return NPU_SUCCESS;
  });
}
