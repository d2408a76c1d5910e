// SPDX-License-Identifier: Apache-2.0
#include "runtime/finding_sentence.hpp"

#include "observe/hazard_findings.hpp"
#include "runtime/source_lines.hpp"

namespace npu::runtime {
namespace {

std::string CoreName(const HazardSide& side) {
  std::string name = side.core == CoreType::kCube ? "cube core" : "vector core";
  if (side.sub_block != 0) name += " " + std::to_string(side.sub_block);
  return name + " of block " + std::to_string(side.block);
}

std::string Bytes(const Hazard& hazard) {
  return std::string(SpaceName(hazard.space)) + " bytes " + std::to_string(hazard.begin) + " to " +
         std::to_string(hazard.end);
}

/// "TADD (PIPE_V, add.cpp:12)", with its core where the other side has another.
std::string Call(const HazardSide& side, const std::string& line, const HazardSide& other) {
  std::string text = std::string(side.instruction) + " (" + PipeName(side.pipe) + ", " + line;
  if (other.instruction != nullptr && !SameCore(side, other)) text += ", " + CoreName(side);
  return text + ")";
}

/// What each kind expected and got; first and second are the calls.
std::string Sentence(const Hazard& hazard, const std::string& first, const std::string& second) {
  const std::string bytes = Bytes(hazard);
  switch (hazard.kind) {
    case HazardKind::kReadAfterWrite:
      return "expected " + second + " to read " + bytes + " after " + first +
             " has written them, got no order between the two";
    case HazardKind::kWriteAfterRead:
      return "expected " + second + " to write " + bytes + " after " + first +
             " has read them, got no order between the two";
    case HazardKind::kWriteAfterWrite:
      return "expected " + second + " to write " + bytes + " after " + first +
             " has written them, got no order between the two";
    case HazardKind::kVectorOrder:
      return "expected pipe_barrier(PIPE_V) between " + first + " and " + second +
             ", which both touch " + bytes + ", got none";
    case HazardKind::kUnwrittenRead:
      return "expected " + second + " to read what was written, got " + bytes +
             ", which nothing has written";
    case HazardKind::kOverlap:
      return "expected " + second + " to read its own tile, got " + bytes + " of the tile that " +
             first + " has written in between, which overlaps it in part";
    case HazardKind::kFlagLeftSet:
      return "expected a wait for each flag by the end of the kernel, got none for that of " +
             first;
    case HazardKind::kFlagSetAgain:
      return "expected a wait between " + first + " and " + second +
             ", which set one flag, got none";
    case HazardKind::kOutOfRange:
      return "expected " + second + " to stay within the " + std::to_string(hazard.limit) +
             " bytes that were asked for, got " + bytes;
  }
  return "";
}

}  // namespace

std::string FindingSentence(size_t index) {
  HazardFindings::Finding finding = {};
  if (!HazardFindings::Get(index, &finding)) return "a finding that was forgotten";
  const Hazard& hazard = finding.hazard;
  const std::vector<std::string> lines =
      SourceLines({hazard.first.call_site, hazard.second.call_site});
  const bool has_first = hazard.first.instruction != nullptr;
  const bool has_second = hazard.second.instruction != nullptr;
  const std::string first = has_first ? Call(hazard.first, lines[0], hazard.second) : "";
  const std::string second = has_second ? Call(hazard.second, lines[1], hazard.first) : "";
  return std::string(hazard.kernel) + ", " + CoreName(has_second ? hazard.second : hazard.first) +
         ": " + HazardName(hazard.kind) + ": " + Sentence(hazard, first, second) +
         "; mend: " + finding.mend;
}

}  // namespace npu::runtime
