// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "npu/core.hpp"
#include "npu/one_body.hpp"
#include "npu/text.hpp"

namespace npu {

/// What stops a kernel: `<kernel>, block <b>, instruction <i>: <op>: expected <what>, got <value>`.
class __attribute__((visibility("default"))) Fault : public std::exception {
 public:
  explicit Fault(const Text& message) : message_(message) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Text message_;
};

/// "my_add, block 3, vector core 1, instruction 17": where core stands.
NPU_ONE_BODY(Text Where(const Core& core)) {
  Text text = core.kernel ? core.kernel : "kernel";
  text += ", block " + TextOf(core.block_idx);
  if (core.sub_block_num > 1) {
    text +=
        core.type == CoreType::kCube ? ", cube core" : ", vector core " + TextOf(core.sub_block_id);
  }
  return text + ", instruction " + TextOf(core.instruction);
}

/// Throws a Fault about operation op of the running core. Not a template: what raises must not cost
/// compile time.
NPU_ONE_BODY(NPU_RAISES void RaiseFault(const Text& op, const Text& expected, const Text& got)) {
  Core* core = current_core;
  if (core != nullptr && core->scheduler != nullptr) core->scheduler->OnFault(*core);
  const Text where = core != nullptr ? Where(*core) + ": " : "";
  throw Fault(where + op + ": expected " + expected + ", got " + got);
}

}  // namespace npu
