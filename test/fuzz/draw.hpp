// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "machine.hpp"
#include "random.hpp"

namespace fuzz {

/// The memory that programs for a core find, the same for all.
const Machine& StartOf(bool is_cube, bool is_a5);

/// The program of seed: right, or broken in one place. scratch: memory to draw it in.
Program Draw(uint64_t seed, bool is_a5, Machine& scratch);

/// Breaks program in one place, or leaves it; a step that it drops may not have been needed.
void Break(Program& program, Random& random);

/// Valid regions, what lies in global memory, scalars and modes of a step, whose instruction is
/// set.
void DrawOperands(Step& step, bool is_a5, Random& random);

/// Adds step, behind flags and barriers that order it after what it meets. touched: of the steps of
/// program, to which those of what is added come.
void AddOrdered(Program& program, std::vector<Touched>& touched, const Step& step,
                const Touched& of_step, Random& random);

}  // namespace fuzz
