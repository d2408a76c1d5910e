// SPDX-License-Identifier: Apache-2.0
// Flags and barriers: those that a step needs, and what breaks a program.
#include <algorithm>

#include "draw.hpp"
#include "order.hpp"

namespace fuzz {
namespace {

HappensBefore OrderOf(const Program& program) {
  HappensBefore order;
  for (const Step& step : program.steps) order.Add(step);
  return order;
}

class Ordering {
 public:
  Ordering(Program& program, std::vector<Touched>& touched, Random& random)
      : program_(program), touched_(touched), random_(random) {}

  void OrderBehind(size_t first, Pipe pipe) {
    const Pipe source = program_.steps[first].instruction->pipe;
    if (random_.Chance(12)) {
      Step barrier = {};
      barrier.kind = StepKind::kBarrier;
      barrier.source = Pipe::kAll;
      return Insert(program_.steps.size(), barrier);
    }
    const bool holds_all = source != Pipe::kS && random_.Chance(10);
    AddFlag(first, source, holds_all ? Pipe::kS : pipe);
  }

 private:
  void Insert(size_t at, const Step& step) {
    const auto place = static_cast<ptrdiff_t>(at);
    program_.steps.insert(program_.steps.begin() + place, step);
    touched_.insert(touched_.begin() + place, Touched());
  }

  /// Sets a flag somewhere behind step first, and waits for it at the end.
  void AddFlag(size_t first, Pipe source, Pipe destination) {
    Step flag = {};
    flag.kind = StepKind::kSetFlag;
    flag.source = source;
    flag.destination = destination;
    const int last = static_cast<int>(program_.steps.size());
    size_t at = static_cast<size_t>(random_.Between(static_cast<int>(first) + 1, last));
    flag.id = FreeId(flag, at);
    if (flag.id < 0) {
      at = static_cast<size_t>(last);  // none is set there
      flag.id = random_.Below(8);
    }
    Insert(at, flag);
    flag.kind = StepKind::kWaitFlag;
    Insert(program_.steps.size(), flag);
  }

  /// An id of the pipes of flag of which none is set or waited for from step at on; else -1.
  int FreeId(const Step& flag, size_t at) {
    const int first = random_.Below(8);
    for (int i = 0; i < 8; ++i) {
      const int id = (first + i) % 8;
      const bool is_used = std::any_of(
          program_.steps.begin() + static_cast<ptrdiff_t>(at), program_.steps.end(),
          [&](const Step& step) {
            return (step.kind == StepKind::kSetFlag || step.kind == StepKind::kWaitFlag) &&
                   step.source == flag.source && step.destination == flag.destination &&
                   step.id == id;
          });
      if (!is_used) return id;
    }
    return -1;
  }

  Program& program_;
  std::vector<Touched>& touched_;
  Random& random_;
};

bool Meet(const Touched& first, const Touched& second) {
  return Overlap(first.writes, second.reads) || Overlap(first.reads, second.writes) ||
         Overlap(first.writes, second.writes);
}

size_t AnyOf(const Program& program, StepKind kind, Random& random) {
  const size_t count = program.steps.size(), start = random.Below(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = (start + i) % count;
    if (program.steps[at].kind == kind) return at;
  }
  return count;
}

void Drop(Program& program, size_t at) {
  program.steps.erase(program.steps.begin() + static_cast<ptrdiff_t>(at));
}

/// Drops a set_flag, its wait, or both.
void DropFlag(Program& program, Random& random) {
  const size_t set = AnyOf(program, StepKind::kSetFlag, random);
  if (set == program.steps.size()) return;
  const Step flag = program.steps[set];
  size_t wait = set;
  while (program.steps[wait].kind != StepKind::kWaitFlag ||
         program.steps[wait].source != flag.source ||
         program.steps[wait].destination != flag.destination || program.steps[wait].id != flag.id) {
    ++wait;
  }
  const int which = random.Below(100);
  if (which < 80) Drop(program, wait);
  if (which < 60 || which >= 80) Drop(program, set);
}

void BreakAddress(Step& step, bool is_a5, Random& random) {
  const int tile = random.Below(step.instruction->count);
  const TileType& type = step.instruction->tiles[tile];
  uint64_t& address = step.operands.address[tile];
  const uint64_t capacity = CapacityOf(type.space, is_a5);
  switch (random.Below(4)) {
    case 0:
      address += static_cast<uint64_t>(random.Between(1, 31));
      return;
    case 1:
      address = capacity - BytesOf(type) + 32 * static_cast<uint64_t>(random.Between(0, 8));
      return;
    case 2:
      address = capacity + 32 * random.Below(uint64_t{1} << random.Between(1, 40));
      return;
    default:
      address = uint64_t{0} - 32 * static_cast<uint64_t>(random.Between(1, 64));
  }
}

void BreakRegion(Step& step, Random& random) {
  const Form form = step.instruction->form;
  const bool is_elementwise = form == Form::kTiles || form == Form::kScalar || form == Form::kUnary;
  if (!is_elementwise && form != Form::kFill && form != Form::kLoad && form != Form::kStore &&
      form != Form::kReduceRows && form != Form::kReduceColumns) {
    return;
  }
  const int tile = random.Below(step.instruction->count);
  const TileType& type = step.instruction->tiles[tile];
  const bool by_rows = random.Chance(50);
  int& valid = (by_rows ? step.operands.valid_rows : step.operands.valid_cols)[tile];
  const int most = by_rows ? type.rows : type.cols;
  constexpr int kFar[] = {1, 2, 1000, 1 << 20, 0x7fffffff};
  const int far = kFar[random.Below(5)];
  if (is_elementwise && random.Chance(30)) {
    valid = random.Between(0, most);
  } else {
    valid = random.Chance(30) ? -far : far > 1000 ? far : most + far;
  }
}

void BreakGlobal(Step& step, Random& random) {
  if (step.instruction->global == Global::kNone) return;
  Operands& operands = step.operands;
  const auto bytes = static_cast<int64_t>(BytesOf(step.instruction->out));
  const int pitch = step.instruction->global == Global::kColumns ? 4 : 3;
  switch (random.Below(3)) {
    case 0:
      operands.global = static_cast<int64_t>(kGlobalBytes) - bytes * random.Between(1, 6);
      return;
    case 1:
      operands.stride[pitch] = int64_t{1} << random.Between(12, 40);
      return;
    default:
      // Not less than needed to leave the memory: what lies within is another matter.
      operands.stride[pitch] = -(operands.global / bytes + random.Between(1, 9));
  }
}

void BreakStep(Program& program, Random& random) {
  const size_t at = AnyOf(program, StepKind::kInstruction, random);
  if (at == program.steps.size()) return;
  Step& step = program.steps[at];
  switch (random.Below(5)) {
    case 0:
      return BreakAddress(step, program.is_a5, random);
    case 1:
      return BreakRegion(step, random);
    case 2:
      return BreakGlobal(step, random);
    case 3: {
      // Of another core, or of another chip.
      const auto& table = Table();
      step.instruction = &table[random.Below(table.size())];
      DrawOperands(step, program.is_a5, random);
      for (int i = 0; i < step.instruction->count; ++i)
        step.operands.address[i] = 32 * static_cast<uint64_t>(random.Between(0, 64));
      const bool is_foreign = (step.instruction->tiles[0].space != Space::kUb) != program.is_cube ||
                              (step.instruction->only_a5 && !program.is_a5);
      if (!is_foreign) Drop(program, at);
      return;
    }
    default: {
      const Instantiation& what = *step.instruction;
      const Dtype type = what.tiles[0].dtype;
      if (what.form == Form::kScalar && (what.fn == Fn::kShl || what.fn == Fn::kShr))
        step.operands.scalar = Wrapped(type, -random.Between(1, 100));
    }
  }
}

}  // namespace

void AddOrdered(Program& program, std::vector<Touched>& touched, const Step& step,
                const Touched& of_step, Random& random) {
  const Pipe pipe = step.instruction->pipe;
  Ordering ordering(program, touched, random);
  for (size_t i = program.steps.size(); i-- > 0;) {
    if (program.steps[i].kind != StepKind::kInstruction || !Meet(touched[i], of_step)) continue;
    if (program.steps.size() + 3 > kMostSteps) return;
    if (!OrderOf(program).IsBeforeNext(i, pipe)) ordering.OrderBehind(i, pipe);
  }
  program.steps.push_back(step);
  touched.push_back(of_step);
}

void Break(Program& program, Random& random) {
  if (program.steps.empty()) return;
  const int way = random.Below(100);
  if (way < 60) return;
  if (way < 78) return DropFlag(program, random);
  if (way < 96) return BreakStep(program, random);
  const size_t flag = AnyOf(program, StepKind::kSetFlag, random);
  if (flag == program.steps.size()) return;
  if (way == 99) {
    program.steps[flag].id = random.Chance(50) ? -1 : random.Between(8, 100);
  } else if (flag + 1 < program.steps.size()) {
    std::swap(program.steps[flag], program.steps[flag + 1]);
  }
}

}  // namespace fuzz
