// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <utility>

#include "npu/core.hpp"

namespace npu {

/// What stops a kernel: `<kernel>, block <b>, instruction <i>: <op>: expected <what>, got <value>`.
class __attribute__((visibility("default"))) Fault : public std::exception {
 public:
  explicit Fault(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// "my_add, block 3, vector core 1, instruction 17": where core stands.
inline std::string Where(const Core& core) {
  std::ostringstream text;
  text << (core.kernel ? core.kernel : "kernel") << ", block " << core.block_idx;
  if (core.sub_block_num > 1) {
    if (core.type == CoreType::kCube) {
      text << ", cube core";
    } else {
      text << ", vector core " << core.sub_block_id;
    }
  }
  text << ", instruction " << core.instruction;
  return text.str();
}

/// Throws a Fault about operation op of the running core.
template <class Expected, class Got>
[[noreturn, gnu::noinline, gnu::cold]] void RaiseFault(const char* op, const Expected& expected, const Got& got) {
  std::ostringstream text;
  if (current_core) text << Where(*current_core) << ": ";
  text << op << ": expected " << expected << ", got " << got;
  throw Fault(text.str());
}

}  // namespace npu
