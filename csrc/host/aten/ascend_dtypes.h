// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <string>

#include "aten/plan.h"

namespace npu_backend {

/// Bits by c10::ScalarType: dtypes that Ascend's operator of this name takes; 0 where nothing is
/// known.
uint32_t AscendDtypes(const std::string& name);

/// In the strict mode a sentence with these dtypes when an operand on npu has another one.
void CheckAscendDtypes(const c10::OperatorHandle& op, const Plan& plan,
                       const c10::IValue* arguments);

}  // namespace npu_backend
