// SPDX-License-Identifier: Apache-2.0
// Which steps of a program come before which, by all paths of pipes, flags and barriers; and what
// follows for the checker.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model.hpp"

namespace fuzz {

inline constexpr size_t kMostSteps = 64;

/// Bit i of before[j]: step i has ended when step j begins.
class HappensBefore {
 public:
  void Add(const Step& step);
  bool IsBefore(size_t first, size_t second) const { return (before_[second] >> first & 1) != 0; }
  size_t size() const { return before_.size(); }
  /// Whether step `first` has ended when an instruction of pipe begins that comes next.
  bool IsBeforeNext(size_t first, Pipe pipe) const {
    return ((of_pipe_[static_cast<int>(pipe)] | dispatch_) >> first & 1) != 0;
  }

 private:
  std::vector<uint64_t> before_;
  uint64_t of_pipe_[kPipes] = {};  // what has ended for the next step of each pipe
  uint64_t dispatch_ = 0;          // what the scalar unit has waited for
  std::vector<uint64_t> flags_[kPipes][kPipes][8];
};

/// Kind, first and second instruction of a finding about the order of accesses.
using Race = std::tuple<std::string, std::string, std::string>;

/// What a checker must find, what it may find (all pairs that nothing orders), and the rest.
struct Expected {
  std::set<Race> must, may;
  bool reads_unwritten = false;
  bool leaves_flag = false, sets_again = false;
};

Expected ExpectedFindings(const Program& program, const std::vector<Touched>& touched);

bool Overlap(const std::vector<Interval>& a, const std::vector<Interval>& b);

}  // namespace fuzz
