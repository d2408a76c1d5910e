// SPDX-License-Identifier: Apache-2.0
#include "runtime/checked_launch.hpp"

#include <optional>

#include "observe/active_observer.hpp"
#include "observe/hazard_checker.hpp"
#include "observe/trace_recorder.hpp"
#include "runtime/finding_sentence.hpp"
#include "runtime/global_memory.hpp"
#include "runtime/hazard_session.hpp"
#include "runtime/launch_scheduler.hpp"
#include "runtime/random_executor.hpp"
#include "runtime/random_order.hpp"

namespace npu::runtime {

Status RunLaunch(const Launch& launch) {
  const auto find = [](const void* context, const void* address) {
    return FindRequestedMemory(*static_cast<const Launch*>(context), address);
  };
  const TraceRecorder::Launch traced(launch.kernel->name, find, &launch);
  if (const std::optional<uint64_t> seed = RandomOrderSeed()) {
    return RandomExecutor(launch, *seed, ActiveObserver(false)).Run();
  }
  InstructionObserver* observer = ActiveObserver(true);
  LaunchScheduler& scheduler = LaunchScheduler::OfThisThread();
  if (observer == nullptr) return scheduler.Run(launch, nullptr);
  HazardChecker::Launch checked({launch.kernel->name, find, &launch});
  Status status = scheduler.Run(launch, observer);
  if (status.code == NPU_SUCCESS) checked.End();
  if (checked.new_findings() == 0) return status;
  HazardSession::Write();
  if (status.code != NPU_SUCCESS || HazardSession::IsQuiet()) return status;
  return {NPU_ERROR_HAZARD, FindingSentence(checked.first_finding()), checked.new_findings()};
}

}  // namespace npu::runtime
