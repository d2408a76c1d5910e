// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <sstream>

#include "launch.hpp"

namespace fuzz {
namespace {

/// Whether got may stand where the model has byte at of memory.
bool Fits(const Memory& memory, const std::vector<uint8_t>& got, uint64_t at) {
  const uint8_t mark = memory.marks[at];
  if (mark == kUnknown) return true;
  if (mark == kKnown) return got[at] == memory.bytes[at];
  const auto type = static_cast<Dtype>(mark - kNanOf);
  const uint64_t start = at / BytesOf(type) * BytesOf(type);
  uint32_t bits = 0;
  std::memcpy(&bits, &got[start], BytesOf(type));
  return IsNan(type, bits);
}

std::string CompareSpace(Space space, const Memory& memory, const std::vector<uint8_t>& got) {
  if (std::memcmp(memory.bytes.data(), got.data(), got.size()) == 0) return "";
  for (uint64_t at = 0; at < got.size(); ++at) {
    if (Fits(memory, got, at)) continue;
    std::ostringstream out;
    out << "expected byte " << int{memory.bytes[at]} << " in " << NameOf(space) << " at " << at
        << ", got " << int{got[at]};
    return out.str();
  }
  return "";
}

std::string NameOf(const npuFindingSide& side) {
  return side.instruction == nullptr ? "" : side.instruction;
}

std::string CompareFault(const Fault& fault, const Launched& launched) {
  const std::string where =
      "tile_program, block 0, instruction " + std::to_string(fault.instruction) + ": ";
  const std::string expected = where + fault.op + ": expected " + fault.expected;
  const bool is_it = launched.error == NPU_ERROR_KERNEL_FAULT &&
                     launched.sentence.compare(0, expected.size(), expected) == 0;
  if (is_it) return "";
  return "expected the fault \"" + expected + "...\" of step " + std::to_string(fault.step + 1) +
         ", got \"" + launched.sentence + "\"";
}

std::string List(const char* what, const std::set<Race>& races) {
  std::string text = what;
  for (const auto& [kind, first, second] : races)
    text += " [" + kind + " " + first + " " + second + "]";
  return text;
}

}  // namespace

std::string Compare(const Program& program, const Outcome& outcome, const Machine& machine,
                    const Launched& launched, bool in_order) {
  if (outcome.fault) {
    std::string problem = CompareFault(*outcome.fault, launched);
    if (!problem.empty()) return problem;
  } else if (launched.error != NPU_SUCCESS) {
    return "expected no fault, got \"" + launched.sentence + "\"";
  }
  for (int space = 0; space < kSpaces; ++space) {
    const auto of = static_cast<Space>(space);
    const bool is_there = !machine[of].bytes.empty();
    const bool is_left = !outcome.fault || (of == Space::kGlobal && in_order);
    if (!is_there || !is_left) continue;
    std::string problem = CompareSpace(of, machine[of], launched.spaces[space]);
    if (!problem.empty()) return problem;
  }
  return program.steps.empty() || launched.spaces[5].size() == kGlobalBytes ? "" : "no memory";
}

std::string CompareFindings(const Expected& expected) {
  size_t count = 0;
  npuHazardsCount(&count);
  std::set<Race> races;
  bool unwritten = false, left = false, again = false;
  for (size_t i = 0; i < count; ++i) {
    npuFinding finding = {};
    npuHazardsFinding(i, &finding);
    const std::string kind = finding.kind;
    if (kind == "unwritten-read") {
      unwritten = true;
    } else if (kind == "flag-left-set") {
      left = true;
    } else if (kind == "flag-set-again") {
      again = true;
    } else {
      races.insert({kind, NameOf(finding.first), NameOf(finding.second)});
    }
  }
  for (const Race& race : expected.must) {
    if (races.count(race) == 0)
      return List("expected findings", expected.must) + List(", got", races);
  }
  for (const Race& race : races) {
    if (expected.may.count(race) == 0)
      return List("expected no findings but", expected.may) + List(", got", races);
  }
  const auto differ = [](const char* what, bool want, bool got) {
    return want == got ? std::string()
                       : std::string("expected ") + (want ? "a finding " : "no finding ") + what;
  };
  return differ("unwritten-read", expected.reads_unwritten, unwritten) +
         differ("flag-left-set", expected.leaves_flag, left) +
         differ("flag-set-again", expected.sets_again, again);
}

}  // namespace fuzz
