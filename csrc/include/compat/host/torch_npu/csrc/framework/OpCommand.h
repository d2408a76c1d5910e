// SPDX-License-Identifier: Apache-2.0
// How C++ code of packages gives work to the current stream.
#pragma once

#include <c10/util/Exception.h>

#include <functional>
#include <string>

#include "npu_runtime.h"
#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

using PROC_FUNC = std::function<int()>;

namespace at_npu::native {

/// Of the vendor's class the calls that run a function; those that describe an operator of its
/// library (Name, Input, Output, Run) are not there: there is no such library.
class OpCommand {
 public:
  /// Calls function, which launches kernels. Raises when a call of the runtime failed in it, a
  /// launch above all; a query that finds work pending has not failed. What function returns is not
  /// looked at: functions of the vendor's own examples end without a return statement. sync: waits
  /// for the current stream, too.
  static void RunOpApi(const std::string& name, const PROC_FUNC& function, bool sync = false) {
    RunOpApiV3(name, function, sync);
  }
  static void RunOpApiV2(const std::string& name, const PROC_FUNC& function, bool sync = false) {
    RunOpApiV3(name, function, sync);
  }
  static void RunOpApiV3(const std::string& name, const PROC_FUNC& function, bool sync = false,
                         c10_npu::NPUStream* task_stream = nullptr) {
    npuSetLastErrorMessage("");
    function();
    const std::string failure = npuGetLastErrorMessage();
    TORCH_CHECK(failure.empty(), name, ": expected a launch, got: ", failure);
    if (!sync) return;
    if (task_stream != nullptr) {
      task_stream->synchronize();
    } else {
      c10_npu::getCurrentNPUStream().synchronize();
    }
  }
};

}  // namespace at_npu::native
