// SPDX-License-Identifier: Apache-2.0
#include "observe/hazard_mend.hpp"

namespace npu {
namespace {

std::string Flag(Pipe source, Pipe destination, int id) {
  return std::string("(") + PipeName(source) + ", " + PipeName(destination) + ", EVENT_ID" +
         std::to_string(id) + ");";
}

std::string Meeting(const HazardSide& a, const HazardSide& b) {
  if (a.core != b.core) return "SYNCALL<SyncCoreType::Mix>();";
  return a.core == CoreType::kCube ? "SYNCALL<SyncCoreType::AICOnly>();"
                                   : "SYNCALL<SyncCoreType::AIVOnly>();";
}

/// Within a block: a flag from the first core, once its pipe has got so far, to the second.
std::string CrossCoreFlag(const HazardSide& first) {
  return std::string("ffts_cross_core_sync(") + PipeName(first.pipe) +
         ", getFFTSMsg(2, 0)); wait_flag_dev(0);";
}

/// Of a flag that is left set, as whoever it is for names it.
std::string MendLeft(const Hazard& hazard) {
  const bool is_intra = hazard.flag_id >= kIntraBlockFlag;
  const std::string id = std::to_string(hazard.flag_id - (is_intra ? kIntraBlockFlag : 0));
  return (is_intra ? "wait_intra_block(PIPE_S, " + id : "wait_flag_dev(" + id) +
         ") on the cores that the flag is for, or one set less";
}

std::string MendOrder(const HazardSide& first, const HazardSide& second, int id) {
  if (SameCore(first, second)) {
    if (first.pipe == second.pipe)
      return std::string("pipe_barrier(") + PipeName(first.pipe) + ");";
    return "set_flag" + Flag(first.pipe, second.pipe, id) + " wait_flag" +
           Flag(first.pipe, second.pipe, id);
  }
  if (first.block == second.block && first.core != second.core) return CrossCoreFlag(first);
  return Meeting(first, second);
}

}  // namespace

std::string HazardMend(const Hazard& hazard) {
  switch (hazard.kind) {
    case HazardKind::kReadAfterWrite:
    case HazardKind::kWriteAfterRead:
    case HazardKind::kWriteAfterWrite:
    case HazardKind::kVectorOrder:
      return MendOrder(hazard.first, hazard.second, hazard.flag_id);
    case HazardKind::kUnwrittenRead:
      return "write these bytes first, by TLOAD or TEXPANDS, or narrow the valid region";
    case HazardKind::kOverlap:
      return "move one of the tiles by TASSIGN so that they share all of their bytes or none";
    case HazardKind::kFlagLeftSet:
      if (hazard.is_between_cores) return MendLeft(hazard);
      [[fallthrough]];
    case HazardKind::kFlagSetAgain:
      return "wait_flag" + Flag(hazard.first.pipe, hazard.flag_destination, hazard.flag_id);
    case HazardKind::kOutOfRange:
      return "keep the transfer within the " + std::to_string(hazard.limit) +
             " bytes that were asked for";
  }
  return "";
}

}  // namespace npu
