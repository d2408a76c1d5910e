// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "npu/core.hpp"
#include "npu/one_body.hpp"

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
NPU_ONE_BODY(std::string Where(const Core& core)) {
  std::string text = core.kernel ? core.kernel : "kernel";
  text += ", block " + std::to_string(core.block_idx);
  if (core.sub_block_num > 1) {
    text += core.type == CoreType::kCube ? ", cube core"
                                         : ", vector core " + std::to_string(core.sub_block_id);
  }
  return text + ", instruction " + std::to_string(core.instruction);
}

/// Throws a Fault about operation op of the running core. Not a template: what raises must not cost
/// compile time.
NPU_ONE_BODY(NPU_RAISES void RaiseFault(const std::string& op, const std::string& expected,
                                        const std::string& got)) {
  const std::string where = current_core ? Where(*current_core) + ": " : "";
  throw Fault(where + op + ": expected " + expected + ", got " + got);
}

}  // namespace npu
