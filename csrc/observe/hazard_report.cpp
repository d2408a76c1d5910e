// SPDX-License-Identifier: Apache-2.0
// Findings of a launch.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "observe/hazard_findings.hpp"
#include "observe/hazard_launch.hpp"

namespace npu {
namespace {

/// The same conflict with its calls in the other order.
void Swap(Hazard& hazard) {
  std::swap(hazard.first, hazard.second);
  if (hazard.kind == HazardKind::kReadAfterWrite) {
    hazard.kind = HazardKind::kWriteAfterRead;
  } else if (hazard.kind == HazardKind::kWriteAfterRead) {
    hazard.kind = HazardKind::kReadAfterWrite;
  }
}

}  // namespace

void LaunchHazards::Note(HazardKind kind, const HazardStamp& first, const TileExtent& first_bytes,
                         uint64_t begin, uint64_t end) {
  const auto is_known = [&](const Conflict& conflict) {
    return conflict.kind == kind && conflict.first.site == first.site &&
           conflict.first.task == first.task;
  };
  auto known = std::find_if(conflicts_.begin(), conflicts_.end(), is_known);
  if (known == conflicts_.end()) {
    conflicts_.push_back({kind, first, first_bytes, begin, end, {}});
    known = std::prev(conflicts_.end());
  }
  known->begin = std::min(known->begin, begin);
  known->end = std::max(known->end, end);
  known->first_bytes = {std::min(known->first_bytes.begin, first_bytes.begin),
                        std::max(known->first_bytes.end, first_bytes.end)};
  if (kind == HazardKind::kWriteAfterWrite) known->pieces.push_back({begin, end});
}

void LaunchHazards::ReportConflicts(const Touch& touch) {
  for (const Conflict& conflict : conflicts_) {
    // Boxes are moved whole: rows behind the last of a matrix come along, and nobody multiplies
    // them.
    const bool of_box = touch.stamp.pipe == Pipe::kMte1 && reads_written_;
    if (of_box && conflict.kind == HazardKind::kUnwrittenRead) continue;
    const uint64_t base = BaseOf(touch.space, conflict.begin);
    Hazard hazard;
    hazard.kind = conflict.kind;
    hazard.space = touch.space;
    hazard.begin = conflict.begin - base;
    hazard.end = conflict.end - base;
    const bool by_tile = conflict.kind == HazardKind::kOverlap;
    const TileExtent second = by_tile ? touch.extent : TileExtent{touch.begin, touch.end};
    hazard.second = SideOf(touch.stamp, second.begin - base, second.end - base);
    const HazardStamp& first = conflict.first;
    if (first.task != kNobody) {
      hazard.first =
          SideOf(first, conflict.first_bytes.begin - base, conflict.first_bytes.end - base);
      hazard.flag_id = FreeFlag(touch.core, first.pipe, touch.stamp.pipe);
    }
    // A core of the block that has told of itself, but not of this, has run ahead: it was to wait.
    const bool in_block = first.task != touch.core.task && hazard.first.block == touch.core.block;
    if (first.task != kNobody && in_block && touch.clock.HasHeardOf(first)) Swap(hazard);
    if (MayRepeat(touch, conflict)) {
      Repetition written = {hazard, conflict.pieces, {}};
      for (const TileExtent& piece : written.pieces) {
        written.bytes.insert(written.bytes.end(), reinterpret_cast<const char*>(piece.begin),
                             reinterpret_cast<const char*>(piece.end));
      }
      repetitions_.push_back(std::move(written));
    } else {
      Report(hazard);
    }
  }
  conflicts_.clear();
}

bool LaunchHazards::MayRepeat(const Touch& touch, const Conflict& conflict) const {
  const HazardStamp& first = conflict.first;
  const HazardCore& here = touch.core;
  return conflict.kind == HazardKind::kWriteAfterWrite && touch.space == Space::kGm &&
         first.site == touch.stamp.site && first.task != here.task &&
         here.type == CoreType::kVector && cores_per_block_ == 3 && first.task % 3 != 0 &&
         first.task / 3 == here.block;
}

void LaunchHazards::JudgeRepetitions() {
  for (const Repetition& written : repetitions_) {
    const char* before = written.bytes.data();
    const auto is_same = [&before](const TileExtent& piece) {
      const size_t bytes = piece.end - piece.begin;
      const void* now = reinterpret_cast<const void*>(piece.begin);
      return std::memcmp(now, std::exchange(before, before + bytes), bytes) == 0;
    };
    if (!std::all_of(written.pieces.begin(), written.pieces.end(), is_same)) Report(written.hazard);
  }
  repetitions_.clear();
}

HazardSide LaunchHazards::SideOf(const HazardStamp& stamp, uint64_t begin, uint64_t end) const {
  const HazardSites::Site& site = sites_[stamp.site];
  const uint32_t index = stamp.task % cores_per_block_;
  const bool is_cube = cores_per_block_ == 3 ? index == 0 : is_cube_launch_;
  return {site.instruction,
          stamp.pipe,
          is_cube ? CoreType::kCube : CoreType::kVector,
          stamp.task / cores_per_block_,
          index > 1 ? index - 1 : 0,
          begin,
          end,
          site.call_site};
}

void LaunchHazards::ReportFlag(HazardKind kind, const HazardCore& core, Pipe source,
                               Pipe destination, int id, const void* first, const void* second) {
  const auto side = [&](const void* call_site) {
    return HazardSide{"set_flag", source, core.type, core.block, core.sub_block, 0, 0, call_site};
  };
  Hazard hazard;
  hazard.kind = kind;
  hazard.first = side(first);
  if (kind == HazardKind::kFlagSetAgain) hazard.second = side(second);
  hazard.flag_id = id;
  hazard.flag_destination = destination;
  Report(hazard);
}

/// An event id of the pipes that the core has not set now.
int LaunchHazards::FreeFlag(const HazardCore& core, Pipe source, Pipe destination) const {
  const int pipes = static_cast<int>(source) * kPipes + static_cast<int>(destination);
  for (int id = 0; id < kEventIds; ++id) {
    if (core.flags[pipes * kEventIds + id].empty()) return id;
  }
  return 0;
}

/// Where offsets in space count from; 0 where nobody knows.
uint64_t LaunchHazards::BaseOf(Space space, uint64_t address) {
  if (space == Space::kGm) {
    const GlobalMemory& memory = MemoryOf(address);
    return memory.is_known ? reinterpret_cast<uint64_t>(memory.begin) : 0;
  }
  for (const HazardCore* core : running_) {
    const SpaceBytes& bytes = core->spaces[static_cast<int>(space)];
    if (bytes.begin <= address && address < bytes.end) return bytes.begin;
  }
  return 0;
}

void LaunchHazards::Report(const Hazard& hazard) {
  Hazard found = hazard;
  found.kernel = facts_.kernel;
  size_t index = 0;
  if (!HazardFindings::Add(found, &index)) return;
  if (new_findings_++ == 0) first_finding_ = index;
}

}  // namespace npu
