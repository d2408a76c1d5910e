// SPDX-License-Identifier: Apache-2.0
// What a program must do, in plain loops over bytes. Shares no code with the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"

namespace fuzz {

/// How a launch must end that breaks a rule.
struct Fault {
  size_t step;           // that breaks it
  uint64_t instruction;  // of the block, as the sentence counts
  std::string op;
  std::string expected;  // the sentence's first words behind "expected"
};

/// The rule that step (its index in program) breaks, if earlier ones left these flags set.
struct SetFlags {
  int count[kPipes][kPipes][8] = {};
};
std::optional<Fault> BrokenRule(const Program& program, size_t step, const SetFlags& flags);

struct Outcome {
  std::optional<Fault> fault;
  std::vector<Touched> touched;  // by step, up to the fault
};

/// Executes program on machine, up to a fault.
Outcome Execute(const Program& program, Machine& machine);

/// Executes an instruction that breaks no rule.
Touched ExecuteStep(const Step& step, bool is_a5, Machine& machine);

/// A step's elements in global memory: their offset in bytes.
int64_t GlobalOffset(const Step& step, int row, int col);

// Arithmetic on elements.
Element ElementOf(Dtype type, double value, Rounding rounding = Rounding::kNearestEven);
Element Compute(Fn fn, Dtype type, const Element& a, const Element& b);
Element Convert(Dtype to, Dtype from, const Element& element, int mode);
bool IsUsable(Dtype type, const Element& element);
/// Comparison mode, 0 (EQ) to 5 (GE), of usable elements.
bool Compares(Dtype type, int mode, const Element& a, const Element& b);
inline constexpr Element kAnything = {0, kUnknown};

}  // namespace fuzz
