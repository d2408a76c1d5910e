// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>

namespace fuzz {

Outcome Execute(const Program& program, Machine& machine) {
  Outcome outcome;
  SetFlags flags;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    outcome.fault = BrokenRule(program, i, flags);
    if (outcome.fault) return outcome;
    outcome.touched.emplace_back();
    if (step.kind == StepKind::kInstruction) {
      outcome.touched.back() = ExecuteStep(step, program.is_a5, machine);
    } else if (step.kind != StepKind::kBarrier) {
      int& count =
          flags.count[static_cast<int>(step.source)][static_cast<int>(step.destination)][step.id];
      count += step.kind == StepKind::kSetFlag ? 1 : -1;
    }
  }
  return outcome;
}

int64_t GlobalOffset(const Step& step, int row, int col) {
  const Operands& operands = step.operands;
  const int64_t* shape = operands.shape;
  const int64_t* stride = operands.stride;
  int64_t offset = col * stride[4];
  int64_t rest = row;
  for (int d = 3; d >= 0; --d) {
    offset += rest % shape[d] * stride[d];
    rest /= shape[d];
  }
  return operands.global + offset * static_cast<int64_t>(BytesOf(step.instruction->out));
}

}  // namespace fuzz
