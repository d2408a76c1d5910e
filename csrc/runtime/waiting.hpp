// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/device.hpp"
#include "runtime/status.hpp"

namespace npu::runtime {

/// NPU_ERROR_INVALID_VALUE unless stream is one that lives.
npuError_t CheckStream(const char* function, npuStream_t stream);

/// NPU_ERROR_INVALID_VALUE for a stream that was destroyed.
npuError_t InvalidDestroyed(const char* function);

/// NPU_ERROR_INVALID_VALUE inside of kernels, host functions and the interrupt callback: they would
/// wait for themselves.
npuError_t CheckMayWait(const char* function);

/// Waits for task sequence of stream and returns the error that is stored there.
npuError_t WaitOn(const char* function, Stream* stream, uint64_t sequence);

/// NPU_ERROR_NOT_READY with "function: <sentence>".
npuError_t NotReady(const char* function, const char* sentence);

}  // namespace npu::runtime
