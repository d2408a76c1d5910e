// SPDX-License-Identifier: Apache-2.0
#include "runtime/status.hpp"

namespace npu::runtime {
namespace {

thread_local std::string last_error_message;

}  // namespace

npuError_t Fail(npuError_t code, std::string message) {
  last_error_message = std::move(message);
  return code;
}

const char* LastErrorMessage() { return last_error_message.c_str(); }

}  // namespace npu::runtime
