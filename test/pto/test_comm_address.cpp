// SPDX-License-Identifier: Apache-2.0
// Transfers between ranks by way of tiles that TASSIGN has not placed.
#include <vector>

#include "elements.hpp"

namespace {

using namespace pto;
using test::ExpectContains;
using test::FaultOf;
using test::VecTile;

using Global = GlobalTensor<float, Shape<1, 1, 1, 20, 32>, Stride<640, 640, 640, 32, 1>>;

struct Operands {
  std::vector<float> memory = std::vector<float>(1280);
  Global ours{memory.data()}, theirs[2] = {Global(memory.data()), Global(memory.data() + 640)};
  comm::ParallelGroup<Global> group{theirs, 1, 0}, pair{theirs, 2, 0};
  VecTile<float, 4, 32> first{4, 32}, second{4, 32};
};

/// call(operands) with the first tile placed or not; how the fault begins.
template <class Call>
void ExpectNamed(const char* op, bool is_placed, const Call& call) {
  const std::string fault = FaultOf([&] {
    Operands operands;
    if (is_placed) TASSIGN(operands.first, 0);
    call(operands);
  });
  ExpectContains(fault, std::string(op) +
                            ": expected the tile with an address from TASSIGN, got a Vec float "
                            "tile of 4x32 without one");
}

TEST(CommAddress, OfTheOnlyTileIsMissed) {
  ExpectNamed("TPUT", false, [](auto& o) { comm::TPUT(o.ours, o.theirs[0], o.first); });
  ExpectNamed("TGET", false, [](auto& o) { comm::TGET(o.ours, o.theirs[0], o.first); });
  ExpectNamed("TGATHER", false, [](auto& o) { comm::TGATHER(o.group, o.ours, o.first); });
  ExpectNamed("TSCATTER", false, [](auto& o) { comm::TSCATTER(o.group, o.ours, o.first); });
  ExpectNamed("TBROADCAST", false, [](auto& o) { comm::TBROADCAST(o.group, o.ours, o.first); });
  ExpectNamed("TREDUCE", false, [](auto& o) {
    comm::TREDUCE(o.pair, o.ours, o.first, o.second, comm::ReduceOp::Sum);
  });
}

TEST(CommAddress, OfTheSecondTileIsMissed) {
  ExpectNamed("TPUT", true, [](auto& o) { comm::TPUT(o.ours, o.theirs[0], o.first, o.second); });
  ExpectNamed("TGET", true, [](auto& o) { comm::TGET(o.ours, o.theirs[0], o.first, o.second); });
  ExpectNamed("TGATHER", true, [](auto& o) { comm::TGATHER(o.group, o.ours, o.first, o.second); });
  ExpectNamed("TSCATTER", true,
              [](auto& o) { comm::TSCATTER(o.group, o.ours, o.first, o.second); });
  ExpectNamed("TBROADCAST", true,
              [](auto& o) { comm::TBROADCAST(o.group, o.ours, o.first, o.second); });
  ExpectNamed("TREDUCE", true, [](auto& o) {
    comm::TREDUCE(o.pair, o.ours, o.first, o.second, comm::ReduceOp::Sum);
  });
}

}  // namespace
