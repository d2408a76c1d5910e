// SPDX-License-Identifier: Apache-2.0
// What the checker says of lambdas that run as kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "device_block.hpp"
#include "on_mixed.hpp"

namespace test {

struct Side {
  std::string instruction, pipe, core;
  uint32_t block = 0, sub_block = 0;
  uint64_t begin = 0, end = 0;
};

/// A finding, copied.
struct Found {
  std::string kind, kernel, space, mend;
  uint64_t begin = 0, end = 0, times = 0;
  Side first, second;
};

inline std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.kind << " " << found.space << " " << found.begin << "-" << found.end << ": "
             << found.first.instruction << " " << found.first.pipe << ", "
             << found.second.instruction << " " << found.second.pipe << "; " << found.mend << " x"
             << found.times;
}

inline Side Copy(const npuFindingSide& side) {
  if (side.instruction == nullptr) return {};
  return {side.instruction, side.pipe, side.core, side.block, side.sub_block, side.begin, side.end};
}

inline std::vector<Found> Findings() {
  size_t count = 0;
  EXPECT_EQ(npuHazardsCount(&count), NPU_SUCCESS);
  std::vector<Found> all;
  for (size_t i = 0; i < count; ++i) {
    npuFinding found = {};
    EXPECT_EQ(npuHazardsFinding(i, &found), NPU_SUCCESS);
    all.push_back({found.kind, found.kernel, found.space, found.mend, found.begin, found.end,
                   found.times, Copy(found.first), Copy(found.second)});
  }
  return all;
}

/// Checks what runs while it lives.
class Checking {
 public:
  explicit Checking(uint32_t kinds = NPU_HAZARD_DEFAULT) {
    EXPECT_EQ(npuHazardsStart(kinds), NPU_SUCCESS);
  }
  ~Checking() { EXPECT_EQ(npuHazardsStop(), NPU_SUCCESS); }
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;
};

/// error is what the launch must end with for these findings.
inline std::vector<Found> Judge(npuError_t error) {
  std::vector<Found> all = Findings();
  const std::string sentence = error == NPU_SUCCESS ? "" : npuGetLastErrorMessage();
  EXPECT_EQ(error, all.empty() ? NPU_SUCCESS : NPU_ERROR_HAZARD) << sentence;
  return all;
}

inline std::vector<Found> Check(const Body& body, uint32_t blocks = 1,
                                uint32_t kinds = NPU_HAZARD_DEFAULT, On core = On::kVector) {
  const Checking checking(kinds);
  return Judge(Run(body, blocks, 0, core));
}

inline std::vector<Found> CheckMixed(const Body& cube, const Body& vector, uint32_t blocks = 1) {
  const Checking checking;
  return Judge(RunMixed({cube, vector}, blocks));
}

inline void ExpectNone(const std::vector<Found>& all) {
  for (const Found& found : all) ADD_FAILURE() << found;
}

/// One finding of kind between these instructions.
inline Found ExpectOne(const std::vector<Found>& all, const std::string& kind,
                       const std::string& first, const std::string& second) {
  EXPECT_EQ(all.size(), 1u);
  if (all.size() != 1) {
    ExpectNone(all);
    return {};
  }
  EXPECT_EQ(all[0].kind, kind);
  EXPECT_EQ(all[0].first.instruction, first);
  EXPECT_EQ(all[0].second.instruction, second);
  return all[0];
}

inline size_t CountOf(const std::vector<Found>& all, const std::string& kind) {
  return static_cast<size_t>(std::count_if(
      all.begin(), all.end(), [&kind](const Found& found) { return found.kind == kind; }));
}

inline void Order(pipe_t source, pipe_t destination, int64_t id = 0) {
  set_flag(source, destination, id);
  wait_flag(source, destination, id);
}

/// A row of floats in global memory.
template <int kCount>
using Row =
    pto::GlobalTensor<float, pto::Shape<1, 1, 1, 1, kCount>, pto::Stride<1, 1, 1, kCount, 1>>;

}  // namespace test
