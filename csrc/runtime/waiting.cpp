// SPDX-License-Identifier: Apache-2.0
#include "runtime/waiting.hpp"

#include <utility>

#include "runtime/interrupt.hpp"

namespace npu::runtime {

npuError_t InvalidDestroyed(const char* function) {
  return Invalid(function, "a stream that lives", "one that was destroyed");
}

npuError_t CheckStream(const char* function, npuStream_t stream) {
  if (stream == nullptr) return Invalid(function, "a stream", "NULL");
  if (!stream->alive()) return InvalidDestroyed(function);
  return NPU_SUCCESS;
}

npuError_t CheckMayWait(const char* function) {
  if (!ThisThreadRole().in_task) return NPU_SUCCESS;
  return Invalid(function, "a call that may wait",
                 "one from inside of a kernel, a host function or the interrupt callback");
}

npuError_t WaitOn(const char* function, Stream* stream, uint64_t sequence) {
  const npuError_t error = CheckMayWait(function);
  if (error != NPU_SUCCESS) return error;
  stream->WaitFor(sequence);
  Status status = stream->TakeError();
  return status.code == NPU_SUCCESS ? NPU_SUCCESS : Fail(std::move(status));
}

npuError_t NotReady(const char* function, const char* sentence) {
  return Fail(NPU_ERROR_NOT_READY, std::string(function) + ": " + sentence);
}

}  // namespace npu::runtime
