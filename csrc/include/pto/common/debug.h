// SPDX-License-Identifier: Apache-2.0
// The path that kernels include for assertions.
#pragma once

#include "npu/error.hpp"

/// A fault of the kernel when condition does not hold; the sentence names the condition and the
/// message.
#define PTO_ASSERT(condition, message) \
  ((condition) ? void() : npu::RaiseFault("PTO_ASSERT", #condition " (" message ")", "false"))
#define PTO_STATIC_ASSERT(condition, message) static_assert(condition, message)
