// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include <algorithm>
#include <cstring>

#include "model.hpp"
#include "order.hpp"

namespace fuzz {
namespace {

constexpr uint64_t kWindow = 20 * 1024;  // bytes of a space that a program uses
constexpr size_t kStepsForFlags = 16;    // that stay free for what a last step needs

bool IsOfCube(const Instantiation& row) { return row.tiles[0].space != Space::kUb; }

/// Rows of the table by core and by what they are for.
struct Choices {
  std::vector<const Instantiation*> loads, stores, others;

  explicit Choices(bool is_cube, bool is_a5) {
    for (const Instantiation& row : Table()) {
      if (IsOfCube(row) != is_cube || (row.only_a5 && !is_a5)) continue;
      if (row.fn == Fn::kAxpy && is_a5) continue;  // fused there
      auto& list = row.form == Form::kLoad ? loads : row.global != Global::kNone ? stores : others;
      list.push_back(&row);
    }
  }
};

const Choices& ChoicesOf(bool is_cube, bool is_a5) {
  static const Choices all[2][2] = {{Choices(false, false), Choices(false, true)},
                                    {Choices(true, false), Choices(true, true)}};
  return all[is_cube ? 1 : 0][is_a5 ? 1 : 0];
}

class Drawing {
 public:
  /// machine: memory that the drawing may use.
  Drawing(uint64_t seed, bool is_a5, Machine& machine) : random_(seed), machine_(machine) {
    program_.seed = seed;
    program_.is_a5 = is_a5;
    program_.is_cube = random_.Chance(20);
    machine_ = StartOf(program_.is_cube, is_a5);
    type_ = static_cast<Dtype>(random_.Below(kDtypes));
    for (int space = 0; space < kOnChip; ++space) {
      const uint64_t capacity = CapacityOf(static_cast<Space>(space), is_a5);
      const uint64_t last = capacity - kWindow;
      window_[space] = random_.Chance(50)   ? 0
                       : random_.Chance(40) ? last
                                            : random_.Below(last / 32) * 32;
    }
  }

  Program Draw() {
    const int instructions = random_.Between(3, 11);
    for (int i = 0; i < instructions; ++i) {
      if (program_.steps.size() + kStepsForFlags > kMostSteps) break;
      AddInstruction();
      const bool has_room = program_.steps.size() + 2 <= kMostSteps;
      if (has_room && random_.Chance(6)) AddNoise();
    }
    Break(program_, random_);
    return program_;
  }

 private:
  void AddInstruction() {
    Step step = {};
    step.kind = StepKind::kInstruction;
    step.instruction = Choose();
    DrawOperands(step, program_.is_a5, random_);
    if (!Place(step)) return;
    AddOrdered(program_, touched_, step, ExecuteStep(step, program_.is_a5, machine_), random_);
  }

  const Instantiation* Choose() {
    const Choices& choices = ChoicesOf(program_.is_cube, program_.is_a5);
    const int kind = random_.Below(100);
    const auto& list = kind < 22 ? choices.loads : kind < 40 ? choices.stores : choices.others;
    const Instantiation* row = nullptr;
    for (int attempt = 0; attempt < 12; ++attempt) {
      row = list[random_.Below(list.size())];
      const auto* end = row->tiles + row->count;
      const bool has_type = std::any_of(
          row->tiles, end, [this](const TileType& tile) { return tile.dtype == type_; });
      if (has_type || random_.Chance(15)) break;
    }
    return row;
  }

  /// Tile 0 shares no byte with another one, but for an element-wise step in place.
  bool Place(Step& step) {
    const Instantiation& row = *step.instruction;
    uint64_t* address = step.operands.address;
    for (int attempt = 0; attempt < 20; ++attempt) {
      bool good = true;
      for (int i = row.count - 1; i >= 0; --i) {
        address[i] = Address(row.tiles[i], i == 0 ? 35 : 65);
        if (i == 0 && MayBeInPlace(row) && random_.Chance(25)) address[0] = address[1];
      }
      for (int i = 1; i < row.count; ++i) good = good && GoTogether(row, address, i);
      if (!good) continue;
      for (int i = 0; i < row.count; ++i) used_.push_back({row.tiles[i].space, address[i]});
      return true;
    }
    return false;
  }

  static bool MayBeInPlace(const Instantiation& row) { return row.form <= Form::kUnary; }

  static bool GoTogether(const Instantiation& row, const uint64_t* address, int other) {
    const TileType& a = row.tiles[0];
    const TileType& b = row.tiles[other];
    if (a.space != b.space || address[0] + BytesOf(a) <= address[other] ||
        address[other] + BytesOf(b) <= address[0]) {
      return true;
    }
    return MayBeInPlace(row) && address[0] == address[other];
  }

  uint64_t Address(const TileType& tile, int percent_used) {
    const uint64_t start = window_[static_cast<int>(tile.space)];
    if (!used_.empty() && random_.Chance(percent_used)) {
      for (int attempt = 0; attempt < 6; ++attempt) {
        const Place_& place = used_[random_.Below(used_.size())];
        if (place.space == tile.space && place.address + BytesOf(tile) <= start + kWindow)
          return place.address;
      }
    }
    const uint64_t rest = kWindow - BytesOf(tile);
    return start + (random_.Chance(5) ? rest : random_.Below(rest / 32 + 1) * 32);
  }

  /// A flag or a barrier that nobody needs: up to two steps.
  void AddNoise() {
    const std::vector<Pipe> pipes =
        program_.is_cube ? std::vector{Pipe::kS, Pipe::kM, Pipe::kMte1, Pipe::kMte2, Pipe::kFix}
                         : std::vector{Pipe::kS, Pipe::kV, Pipe::kMte2, Pipe::kMte3};
    Step step = {};
    step.source = pipes[random_.Below(pipes.size())];
    step.destination = pipes[random_.Below(pipes.size())];
    step.kind = StepKind::kBarrier;
    if (random_.Chance(40)) {
      program_.steps.push_back(step);
      touched_.emplace_back();
      return;
    }
    if (step.source == step.destination) return;
    // All flags so far have been waited for.
    step.id = random_.Below(8);
    for (const StepKind kind : {StepKind::kSetFlag, StepKind::kWaitFlag}) {
      step.kind = kind;
      program_.steps.push_back(step);
      touched_.emplace_back();
    }
  }

  struct Place_ {
    Space space;
    uint64_t address;
  };

  Program program_;
  Random random_;
  Machine& machine_;
  std::vector<Touched> touched_;
  std::vector<Place_> used_;
  uint64_t window_[kOnChip];
  Dtype type_;
};

/// Blocks of 32 bytes: random bits, or small numbers of one type.
void FillBlock(uint8_t* bytes, Random& random) {
  const bool is_raw = random.Chance(25);
  const auto type = static_cast<Dtype>(random.Below(kDtypes));
  const size_t width = BytesOf(type);
  for (size_t at = 0; at < 32; at += width) {
    const int sixteenths = random.Between(-200, 200);
    const double value = random.Chance(50) ? sixteenths : sixteenths / 16.0;
    uint32_t bits = Wrapped(type, random.Between(-100, 100));
    if (IsFloat(type)) bits = BitsOf(type, value);
    if (is_raw) bits = static_cast<uint32_t>(random.Next());
    std::memcpy(bytes + at, &bits, width);
  }
}

}  // namespace

const Machine& StartOf(bool is_cube, bool is_a5) {
  const auto make = [](bool cube, bool a5) {
    Machine machine;
    for (int space = 0; space < kSpaces; ++space) {
      const auto of = static_cast<Space>(space);
      const bool is_global = of == Space::kGlobal;
      if (!is_global && (of != Space::kUb) != cube) continue;
      const uint64_t size = is_global ? kGlobalBytes : CapacityOf(of, a5);
      Memory& memory = machine[of];
      memory.bytes.resize(size);
      memory.marks.resize(size);
      if (!is_global) memory.written.resize(size);
      Random random(static_cast<uint64_t>(space));
      for (uint64_t at = 0; at < size; at += 32) FillBlock(&memory.bytes[at], random);
    }
    return machine;
  };
  static const Machine machines[2][2] = {{make(false, false), make(false, true)},
                                         {make(true, false), make(true, true)}};
  return machines[is_cube ? 1 : 0][is_a5 ? 1 : 0];
}

Program Draw(uint64_t seed, bool is_a5, Machine& scratch) {
  return Drawing(seed, is_a5, scratch).Draw();
}

}  // namespace fuzz
