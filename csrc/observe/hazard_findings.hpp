// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "observe/hazard_finding.hpp"

namespace npu {

/// All that was found since the last start, over all launches and threads: one finding per kind and
/// pair of calls.
class HazardFindings {
 public:
  /// A finding as it is kept; its texts live until the next Clear.
  struct Finding {
    Hazard hazard;
    const char* mend;  // the line of code to add
    uint64_t times;
  };

  static void Clear();
  /// Counts hazard; true when it is a new one, the one with that index.
  static bool Add(const Hazard& hazard, size_t* index);
  static size_t Count();
  /// False when there is none with that index.
  static bool Get(size_t index, Finding* finding);
};

}  // namespace npu
