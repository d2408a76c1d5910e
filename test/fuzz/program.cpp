// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <sstream>

namespace fuzz {

const char* NameOf(Pipe pipe) {
  constexpr const char* kNames[] = {"PIPE_S",    "PIPE_V",    "PIPE_M",   "PIPE_MTE1",
                                    "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL"};
  return kNames[static_cast<int>(pipe)];
}

const char* NameOf(Space space) {
  constexpr const char* kNames[] = {"UB", "L1", "L0A", "L0B", "L0C", "GM"};
  return kNames[static_cast<int>(space)];
}

namespace {

const char* NameOf(Order order) {
  constexpr const char* kNames[] = {"Nd", "Dn", "Nz", "Zn", "Zz"};
  return kNames[static_cast<int>(order)];
}

void DescribeGlobal(std::ostream& out, const Step& step) {
  const Operands& operands = step.operands;
  out << ", GM " << fuzz::NameOf(step.instruction->out) << " at " << operands.global << " [";
  for (const int64_t size : operands.shape) out << " " << size;
  out << " ] by [";
  for (const int64_t stride : operands.stride) out << " " << stride;
  out << " ]";
}

}  // namespace

std::string Describe(const Step& step) {
  std::ostringstream out;
  if (step.kind == StepKind::kBarrier) {
    out << "pipe_barrier(" << NameOf(step.source) << ")";
  } else if (step.kind != StepKind::kInstruction) {
    out << (step.kind == StepKind::kSetFlag ? "set_flag(" : "wait_flag(") << NameOf(step.source)
        << ", " << NameOf(step.destination) << ", " << step.id << ")";
  } else {
    const Instantiation& instruction = *step.instruction;
    const Operands& operands = step.operands;
    out << instruction.name << " (" << NameOf(instruction.pipe) << ")";
    for (int i = 0; i < instruction.count; ++i) {
      const TileType& tile = instruction.tiles[i];
      out << (i == 0 ? " " : ", ") << fuzz::NameOf(tile.space) << " " << operands.address[i] << " "
          << NameOf(tile.dtype) << " " << NameOf(tile.order) << " " << tile.rows << "x" << tile.cols
          << " valid " << operands.valid_rows[i] << "x" << operands.valid_cols[i];
    }
    if (instruction.global != Global::kNone) DescribeGlobal(out, step);
    out << "; scalar 0x" << std::hex << operands.scalar << std::dec << ", mode " << operands.mode
        << ", row " << operands.row << ", col " << operands.col;
  }
  return out.str();
}

std::string Describe(const Program& program) {
  std::ostringstream out;
  out << "program " << program.seed << " on a " << (program.is_cube ? "cube" : "vector")
      << " core of " << (program.is_a5 ? "A5" : "A3") << "\n";
  for (size_t i = 0; i < program.steps.size(); ++i)
    out << "  " << i + 1 << ": " << Describe(program.steps[i]) << "\n";
  return out.str();
}

int64_t OffsetOf(const TileType& tile, int row, int col) {
  const bool is_acc = tile.space == Space::kL0C;
  const int block = is_acc ? 16 : 32 / static_cast<int>(BytesOf(tile.dtype));
  switch (tile.order) {
    case Order::kNd:
      return int64_t{row} * tile.cols + col;
    case Order::kDn:
      return int64_t{col} * tile.rows + row;
    case Order::kNz:
      return int64_t{col / block} * tile.rows * block + int64_t{row} * block + col % block;
    case Order::kZn:
      return int64_t{row / block} * tile.cols * block + int64_t{col} * block + row % block;
    default:
      return int64_t{row / 16} * 16 * tile.cols + int64_t{col / block} * 16 * block +
             int64_t{row % 16} * block + col % block;
  }
}

uint64_t CapacityOf(Space space, bool is_a5) {
  constexpr uint64_t kA3[] = {192, 512, 64, 64, 128}, kA5[] = {256, 512, 64, 64, 256};
  return (is_a5 ? kA5 : kA3)[static_cast<int>(space)] * 1024;
}

}  // namespace fuzz
