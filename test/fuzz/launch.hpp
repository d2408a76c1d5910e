// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "npu_runtime.h"
#include "order.hpp"

namespace fuzz {

/// Ends the process with a sentence unless what went well.
void Require(npuError_t error, const char* what);

/// What a launch of a program left.
struct Launched {
  npuError_t error = NPU_SUCCESS;
  std::string sentence;
  std::vector<uint8_t> spaces[kSpaces];  // on the chip: of a launch without fault
};

/// Runs programs on the device, in memory of its own.
class Launcher {
 public:
  Launcher();
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  const Launched& Run(const Program& program);

 private:
  void* memory_ = nullptr;
  npuStream_t stream_ = nullptr;
  Launched launched_;
};

/// A sentence about the first way in which what was launched is not what the model says; empty if
/// there is none.
std::string Compare(const Program& program, const Outcome& outcome, const Machine& machine,
                    const Launched& launched, bool in_order);

/// The same of what the checker has found.
std::string CompareFindings(const Expected& expected);

}  // namespace fuzz
