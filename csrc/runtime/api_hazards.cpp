// SPDX-License-Identifier: Apache-2.0
// The C ABI: what the checker finds.
#include <string>

#include "observe/hazard_findings.hpp"
#include "runtime/device.hpp"
#include "runtime/hazard_session.hpp"
#include "runtime/process.hpp"

using namespace npu::runtime;  // NOLINT(google-build-using-namespace): this file is the runtime's
                               // face
using npu::HazardFindings;

static_assert(NPU_HAZARD_ORDER == npu::kHazardOrder &&
              NPU_HAZARD_UNWRITTEN == npu::kHazardUnwritten &&
              NPU_HAZARD_OVERLAP == npu::kHazardOverlap && NPU_HAZARD_FLAG == npu::kHazardFlag &&
              NPU_HAZARD_RANGE == npu::kHazardRange &&
              NPU_HAZARD_VECTOR_ORDER == npu::kHazardVectorOrder &&
              NPU_HAZARD_DEFAULT == npu::kHazardDefault);

namespace {

npuFindingSide SideOf(const npu::HazardSide& side) {
  if (side.instruction == nullptr) return {};
  return {side.instruction,
          npu::PipeName(side.pipe),
          side.core == npu::CoreType::kCube ? "cube" : "vector",
          side.block,
          side.sub_block,
          side.begin,
          side.end,
          side.call_site};
}

bool OfFlag(const npu::Hazard& hazard) {
  return hazard.kind == npu::HazardKind::kFlagLeftSet ||
         hazard.kind == npu::HazardKind::kFlagSetAgain;
}

}  // namespace

npuError_t npuHazardsStart(uint32_t kinds) {
  return Asking(__func__, [&](const char* function) {
    const uint32_t wanted = kinds & ~NPU_HAZARD_QUIET;
    if (wanted == 0 || (wanted & ~npu::kHazardAll) != 0) {
      return Invalid(function, "a sum of kinds from 1 to " + std::to_string(npu::kHazardAll),
                     wanted);
    }
    HazardSession::Start(wanted, kinds != wanted);
    return NPU_SUCCESS;
  });
}

npuError_t npuHazardsStop(void) {
  return Asking(__func__, [] {
    HazardSession::Stop();
    return NPU_SUCCESS;
  });
}

npuError_t npuHazardsCount(size_t* findings) {
  return Asking(__func__, [&](const char* function) {
    if (findings == nullptr) return Invalid(function, "a pointer for the number", "NULL");
    *findings = HazardFindings::Count();
    return NPU_SUCCESS;
  });
}

npuError_t npuHazardsFinding(size_t index, npuFinding* finding) {
  return Asking(__func__, [&](const char* function) {
    HazardFindings::Finding found;
    if (finding == nullptr || !HazardFindings::Get(index, &found)) {
      return Invalid(function,
                     "a pointer and an index below " + std::to_string(HazardFindings::Count()),
                     finding == nullptr ? "NULL" : std::to_string(index));
    }
    const npu::Hazard& hazard = found.hazard;
    *finding = {npu::HazardName(hazard.kind),
                hazard.kernel,
                OfFlag(hazard) ? "" : npu::SpaceName(hazard.space),
                hazard.begin,
                hazard.end,
                SideOf(hazard.first),
                SideOf(hazard.second),
                found.mend,
                found.times};
    return NPU_SUCCESS;
  });
}
