// SPDX-License-Identifier: Apache-2.0
// Ranks that have a group.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "processes.hpp"
#include "ranks/rank_group.hpp"

namespace npu::ranks {

/// Memory that this process holds, as a launcher does.
class Memory {
 public:
  Memory() : descriptor_(GroupMemory::Create()) { EXPECT_GE(descriptor_, 0); }
  ~Memory() { close(descriptor_); }

  Membership Of(uint32_t rank, uint32_t size) const {
    Membership membership;
    membership.address = GroupMemory::AddressOf(descriptor_);
    membership.rank = rank;
    membership.size = size;
    membership.window_bytes = size_t{2} << 20;
    membership.windows = 1;
    return membership;
  }

 private:
  int descriptor_;
};

/// What body(group) returns on each rank of a group that has met once; the error where one cannot
/// join.
inline std::vector<std::string> InGroup(uint32_t size,
                                        const std::function<std::string(RankGroup&)>& body) {
  const Memory memory;
  const Membership shared = memory.Of(0, size);
  return test::OnRanks(size, [&](uint32_t rank) {
    Membership own = shared;
    own.rank = rank;
    std::string error;
    const auto group = RankGroup::Join("Join", own, &error);
    if (group != nullptr) error = group->Barrier("Barrier");
    return error.empty() ? body(*group) : error;
  });
}

}  // namespace npu::ranks
