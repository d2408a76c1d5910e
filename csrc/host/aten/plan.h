// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <vector>

namespace npu_backend {

/// What the fallback has to know of an operator, read once from its schema.
struct Plan {
  explicit Plan(const c10::OperatorHandle& op);

  c10::OperatorName name;
  size_t arguments = 0;
  size_t returns = 0;
  std::vector<bool> is_mutable;     // by argument
  std::vector<uint8_t> generators;  // arguments of type Generator?
  bool mixes_devices = false;       // takes CPU tensors together with npu tensors
  bool takes_host_indices = false;  // a list of tensors on CPU together with npu tensors
  bool has_cpu_kernel = true;
  int cpu_result = -1;                   // the result that stays on CPU
  uint32_t ascend_dtypes = 0;            // see AscendDtypes
  std::vector<uint8_t> typed_arguments;  // to which that applies
};

const Plan& PlanOf(const c10::OperatorHandle& op);

}  // namespace npu_backend
