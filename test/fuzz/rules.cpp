// SPDX-License-Identifier: Apache-2.0
// The rules of the chip that a program can break, in the order in which a step meets them.
#include <algorithm>

#include "model.hpp"

namespace fuzz {
namespace {

class Rules {
 public:
  Rules(const Program& program, size_t index, const SetFlags& flags)
      : program_(program), index_(index), step_(program.steps[index]), flags_(flags) {}

  std::optional<Fault> OfFlag() const {
    const char* op = step_.kind == StepKind::kSetFlag ? "set_flag" : "wait_flag";
    if (step_.id < 0 || step_.id > 7) return Broken(op, "pipes from PIPE_S (0) to PIPE_FIX (6)");
    const int pending =
        flags_.count[static_cast<int>(step_.source)][static_cast<int>(step_.destination)][step_.id];
    if (step_.kind == StepKind::kSetFlag || pending != 0) return {};
    return Broken(op, std::string("an earlier set_flag(") + NameOf(step_.source) + ", " +
                          NameOf(step_.destination) + ", EVENT_ID" + std::to_string(step_.id) +
                          ")");
  }

  std::optional<Fault> OfInstruction() const {
    const Instantiation& what = *step_.instruction;
    for (int i = 0; i < what.count; ++i) {
      if (auto fault = OfPlace(i)) return fault;
    }
    const bool shifts = what.form == Form::kScalar && (what.fn == Fn::kShl || what.fn == Fn::kShr);
    const Dtype type = what.tiles[0].dtype;
    if (shifts && IsSigned(type) && IntegerOf(type, step_.operands.scalar) < 0)
      return Broken(what.name, "a shift of 0 bits or more");
    if (what.only_a5 && !program_.is_a5) return Broken(what.name, "elements of type ");
    for (int i = 0; i < what.count; ++i) {
      if (auto fault = OfRegion(i)) return fault;
    }
    const int64_t pitch = step_.operands.stride[3];
    const bool is_boxed = what.form == Form::kLoad && what.tiles[0].space == Space::kL1;
    if (is_boxed && (pitch < 0 || pitch > 65535))
      return Broken(what.name, "stride[3] from 0 to 65535");
    if (what.global != Global::kNone && LeavesMemory())
      return Broken(what.name, "global memory within the 65536 bytes of its allocation");
    return {};
  }

 private:
  Fault Broken(const char* op, const std::string& expected) const {
    return {index_, index_ + 1, op, expected};
  }

  /// TASSIGN is no instruction of its own.
  std::optional<Fault> OfPlace(int tile) const {
    const TileType& type = step_.instruction->tiles[tile];
    const uint64_t address = step_.operands.address[tile], bytes = BytesOf(type);
    const uint64_t capacity = CapacityOf(type.space, program_.is_a5);
    if ((type.space != Space::kUb) != program_.is_cube)
      return Fault{index_, index_, "TASSIGN", std::string("a core with ") + NameOf(type.space)};
    if (address % 32 != 0)
      return Fault{index_, index_, "TASSIGN", "a multiple of 32 bytes as address"};
    if (address > capacity - bytes)
      return Fault{index_, index_, "TASSIGN", std::string("the ") + KindOf(type.space)};
    return {};
  }

  std::optional<Fault> OfRegion(int tile) const {
    const Instantiation& what = *step_.instruction;
    const Operands& operands = step_.operands;
    const TileType& type = what.tiles[tile];
    const int rows = operands.valid_rows[tile], cols = operands.valid_cols[tile];
    if (rows < 0 || rows > type.rows || cols < 0 || cols > type.cols)
      return Broken(what.name, "a valid region of ");
    const bool is_elementwise =
        what.form == Form::kTiles || what.form == Form::kScalar || what.form == Form::kUnary;
    if (is_elementwise && (rows != operands.valid_rows[0] || cols != operands.valid_cols[0])) {
      const char* name = what.count == 2 ? "src" : tile == 1 ? "src0" : "src1";
      return Broken(what.name, std::string(name) + " of valid shape ");
    }
    return {};
  }

  bool LeavesMemory() const {
    const Operands& operands = step_.operands;
    int64_t low = operands.global, high = operands.global;
    for (int d = 0; d < 5; ++d) {
      if (operands.shape[d] <= 0) return false;
      const int64_t span = (operands.shape[d] - 1) * operands.stride[d] *
                           static_cast<int64_t>(BytesOf(step_.instruction->out));
      (span < 0 ? low : high) += span;
    }
    high += static_cast<int64_t>(BytesOf(step_.instruction->out));
    return low < 0 || high > static_cast<int64_t>(kGlobalBytes);
  }

  static const char* KindOf(Space space) {
    constexpr const char* kNames[] = {"Vec", "Mat", "Left", "Right", "Acc"};
    return kNames[static_cast<int>(space)];
  }

  const Program& program_;
  size_t index_;
  const Step& step_;
  const SetFlags& flags_;
};

}  // namespace

std::optional<Fault> BrokenRule(const Program& program, size_t step, const SetFlags& flags) {
  const Rules rules(program, step, flags);
  switch (program.steps[step].kind) {
    case StepKind::kBarrier:
      return {};
    case StepKind::kInstruction:
      return rules.OfInstruction();
    default:
      return rules.OfFlag();
  }
}

}  // namespace fuzz
