// SPDX-License-Identifier: Apache-2.0
// Tiles that are global memory: what kernels spare that promise what view.hpp asks.
#include <vector>

#include "device_block.hpp"
#include "on_core.hpp"
#include "pto/view.hpp"

namespace {

using namespace pto;
using test::Block;
using test::ExpectContains;
using test::FaultOf;
using test::Matrix;
using test::OnCore;
using test::VecTile;

constexpr int kCols = 64;

struct Counter final : npu::InstructionObserver {
  std::vector<std::string> names;
  void OnInstruction(const npu::Core&, const npu::Instruction& instruction) override {
    names.emplace_back(instruction.name);
  }
};

/// Two rows of operands and of a result in memory that transfers find.
class View : public testing::Test {
 protected:
  View() : x(2 * kCols * sizeof(float)), z(2 * kCols * sizeof(float)) {
    for (int i = 0; i < 2 * kCols; ++i) x.data()[i] = static_cast<float>(i);
  }

  /// z = x + x of rows x cols elements, which lie pitch apart; where its two tiles were.
  struct Places {
    const float *operand, *result;
  };
  Places Double(int rows, int cols, int pitch) const {
    VecTile<float, 2, kCols> from(rows, cols), to(rows, cols);
    TASSIGN(from, 0);
    TASSIGN(to, 2 * kCols * sizeof(float));
    Matrix<float> source(x.data(), {rows, cols}, {pitch, 1});
    Matrix<float> target(z.data(), {rows, cols}, {pitch, 1});
    LoadAsView(from, source);
    AssignToResult(to, target);
    const Places places = {from.data(), to.data()};
    TADD(to, from, from);
    TSTORE(target, to);
    return places;
  }
  void ExpectDoubled(int rows, int cols, int pitch) const {
    for (int i = 0; i < rows * cols; ++i) {
      const int at = i / cols * pitch + i % cols;
      ASSERT_EQ(z.data()[at], 2 * x.data()[at]) << at;
    }
  }

  Block<float> x, z;
};

TEST_F(View, OfWholeRowsIsGlobalMemory) {
  for (const int rows : {1, 2}) {
    OnCore([&] {
      const Places places = Double(rows, kCols, kCols);
      EXPECT_EQ(places.operand, x.data());
      EXPECT_EQ(places.result, z.data());
      EXPECT_EQ(npu::current_core->instruction, 3u);
    });
    ExpectDoubled(rows, kCols, kCols);
  }
}

TEST_F(View, OfRowsThatLieApartIsACopy) {
  OnCore([&] {
    const Places places = Double(2, 8, 16);
    EXPECT_NE(places.operand, x.data());
    EXPECT_NE(places.result, z.data());
  });
  ExpectDoubled(2, 8, 16);
}

TEST_F(View, IsACopyWhileSomebodyListens) {
  Counter counter;
  OnCore([&] {
    npu::current_core->observer = &counter;
    const Places places = Double(1, kCols, kCols);
    npu::current_core->observer = nullptr;
    EXPECT_NE(places.operand, x.data());
    EXPECT_NE(places.result, z.data());
  });
  ExpectDoubled(1, kCols, kCols);
  EXPECT_EQ(counter.names, (std::vector<std::string>{"TLOAD", "TADD", "TSTORE"}));
}

TEST_F(View, KeepsTheLimitsOfTransfers) {
  const auto load = [&](bool as_view) {
    return FaultOf([&] {
      VecTile<float, 2, kCols> tile(1, kCols);
      TASSIGN(tile, 0);
      Matrix<float> source(x.data(), {1, kCols}, {kCols, 1});
      Matrix<float> outside(x.data() + 2 * kCols - 1, {1, kCols}, {kCols, 1});
      TLOAD(tile, source);
      as_view ? LoadAsView(tile, outside) : static_cast<void>(TLOAD(tile, outside));
    });
  };
  ExpectContains(load(false), "TLOAD: expected global memory within");
  EXPECT_EQ(load(true), load(false));
}

}  // namespace
