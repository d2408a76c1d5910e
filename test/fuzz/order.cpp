// SPDX-License-Identifier: Apache-2.0
#include "order.hpp"

#include <algorithm>
#include <utility>

namespace fuzz {

void HappensBefore::Add(const Step& step) {
  const size_t index = before_.size();
  const uint64_t self = uint64_t{1} << index;
  const Pipe pipe = step.kind == StepKind::kInstruction ? step.instruction->pipe
                    : step.kind == StepKind::kWaitFlag  ? step.destination
                                                        : step.source;
  if (pipe == Pipe::kAll) {
    uint64_t all = dispatch_;
    for (const uint64_t each : of_pipe_) all |= each;
    before_.push_back(all);
    std::fill(of_pipe_, of_pipe_ + kPipes, all | self);
    dispatch_ = all | self;
    return;
  }
  uint64_t& mine = of_pipe_[static_cast<int>(pipe)];
  mine |= dispatch_;
  if (step.kind == StepKind::kWaitFlag) {
    auto& set = flags_[static_cast<int>(step.source)][static_cast<int>(step.destination)][step.id];
    mine |= set.front();
    if (pipe == Pipe::kS) dispatch_ |= set.front();
    set.erase(set.begin());
  }
  before_.push_back(mine);
  mine |= self;
  if (step.kind == StepKind::kSetFlag) {
    flags_[static_cast<int>(step.source)][static_cast<int>(step.destination)][step.id].push_back(
        mine);
  }
}

bool Overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  for (const Interval& x : a) {
    for (const Interval& y : b) {
      if (x.space == y.space && x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

namespace {

constexpr const char* kReadAfterWrite = "read-after-write";
constexpr const char* kWriteAfterRead = "write-after-read";
constexpr const char* kWriteAfterWrite = "write-after-write";

class Races {
 public:
  Races(const Program& program, const std::vector<Touched>& touched, const HappensBefore& order)
      : program_(program), touched_(touched), order_(order) {}

  void FindAll(std::set<Race>& may) const {
    for (size_t j = 0; j < touched_.size(); ++j) {
      for (size_t i = 0; i < j; ++i) {
        if (order_.IsBefore(i, j)) continue;
        if (Overlap(touched_[i].writes, touched_[j].reads)) may.insert(Of(kReadAfterWrite, i, j));
        if (Overlap(touched_[i].reads, touched_[j].writes)) may.insert(Of(kWriteAfterRead, i, j));
        if (Overlap(touched_[i].writes, touched_[j].writes)) may.insert(Of(kWriteAfterWrite, i, j));
      }
    }
  }

  /// Those with the last writer of a byte, and with the last reader of each pipe since.
  void FindLast(std::set<Race>& must) const {
    const std::vector<Edge> edges = Edges();
    std::vector<Byte> pieces(edges.size());
    const auto for_pieces = [&](const std::vector<Interval>& list, const auto& visit) {
      for (const Interval& each : list) {
        const auto at = [&](uint64_t place) {
          return std::lower_bound(edges.begin(), edges.end(), Edge{each.space, place});
        };
        for (auto edge = at(each.begin); edge != at(each.end); ++edge)
          visit(pieces[static_cast<size_t>(edge - edges.begin())]);
      }
    };
    for (size_t j = 0; j < touched_.size(); ++j) {
      for_pieces(touched_[j].reads, [&](Byte& byte) {
        NoteUnordered(must, kReadAfterWrite, byte.writer, j);
        byte.reader[static_cast<int>(program_.steps[j].instruction->pipe)] = static_cast<int>(j);
      });
      for_pieces(touched_[j].writes, [&](Byte& byte) {
        NoteUnordered(must, kWriteAfterWrite, byte.writer, j);
        for (const int reader : byte.reader)
          if (reader != static_cast<int>(j)) NoteUnordered(must, kWriteAfterRead, reader, j);
        byte = Byte();
        byte.writer = static_cast<int>(j);
      });
    }
  }

 private:
  struct Byte {
    int writer = -1;
    int reader[kPipes] = {-1, -1, -1, -1, -1, -1, -1};
  };

  using Edge = std::pair<Space, uint64_t>;

  /// Where an interval begins or ends: between two of these all bytes fare alike.
  std::vector<Edge> Edges() const {
    std::vector<Edge> edges;
    for (const Touched& each : touched_) {
      for (const auto* list : {&each.reads, &each.writes}) {
        for (const Interval& interval : *list) {
          edges.emplace_back(interval.space, interval.begin);
          edges.emplace_back(interval.space, interval.end);
        }
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
  }

  Race Of(const char* kind, size_t first, size_t second) const {
    return {kind, program_.steps[first].instruction->name,
            program_.steps[second].instruction->name};
  }
  void NoteUnordered(std::set<Race>& must, const char* kind, int first, size_t second) const {
    if (first < 0 || order_.IsBefore(static_cast<size_t>(first), second)) return;
    must.insert(Of(kind, static_cast<size_t>(first), second));
  }

  const Program& program_;
  const std::vector<Touched>& touched_;
  const HappensBefore& order_;
};

void FindFlags(const Program& program, Expected& expected) {
  SetFlags flags;
  for (const Step& step : program.steps) {
    if (step.kind != StepKind::kSetFlag && step.kind != StepKind::kWaitFlag) continue;
    int& count =
        flags.count[static_cast<int>(step.source)][static_cast<int>(step.destination)][step.id];
    if (step.kind == StepKind::kWaitFlag) {
      --count;
    } else if (count++ != 0) {
      expected.sets_again = true;
    }
  }
  for (const auto& source : flags.count)
    for (const auto& destination : source)
      for (const int count : destination) expected.leaves_flag |= count != 0;
}

}  // namespace

Expected ExpectedFindings(const Program& program, const std::vector<Touched>& touched) {
  Expected expected;
  HappensBefore order;
  for (const Step& step : program.steps) order.Add(step);
  const Races races(program, touched, order);
  races.FindAll(expected.may);
  if (!expected.may.empty()) races.FindLast(expected.must);
  for (const Touched& each : touched) expected.reads_unwritten |= each.reads_unwritten;
  FindFlags(program, expected);
  return expected;
}

}  // namespace fuzz
