// SPDX-License-Identifier: Apache-2.0
// The part of the vendor's runtime interface that programs with tile kernels use, over
// npu_runtime.h. Errors are the numbers of npuError_t; aclGetRecentErrMsg gives the sentence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "npu/half.hpp"
#include "npu_runtime.h"

using aclError = int;
using aclrtStream = void*;
using aclrtEvent = void*;
using aclrtContext = void*;
using aclFloat16 = half;

inline constexpr aclError ACL_SUCCESS = 0;
inline constexpr aclError ACL_ERROR_NONE = 0;
inline constexpr aclError ACL_ERROR_INVALID_PARAM = 100000;

enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
};

enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE,
};

inline float aclFloat16ToFloat(aclFloat16 value) { return static_cast<float>(value); }
inline aclFloat16 aclFloatToFloat16(float value) { return static_cast<aclFloat16>(value); }

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
/// Sentence of the last failed call of this thread.
inline const char* aclGetRecentErrMsg() { return npuGetLastErrorMessage(); }

// --- devices ---

inline aclError aclrtSetDevice(int32_t device) { return npuSetDevice(device); }
inline aclError aclrtGetDevice(int32_t* device) { return npuGetDevice(device); }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtGetDeviceCount(uint32_t* count) {
  int devices = 0;
  const aclError error = npuGetDeviceCount(&devices);
  *count = static_cast<uint32_t>(devices);
  return error;
}
inline aclError aclrtSynchronizeDevice() { return npuDeviceSynchronize(); }
inline const char* aclrtGetSocName() {
  const char* name = nullptr;
  return npuGetSocName(&name) == NPU_SUCCESS ? name : nullptr;
}

// --- streams and events ---

inline aclError aclrtCreateStream(aclrtStream* stream) {
  return npuStreamCreate(reinterpret_cast<npuStream_t*>(stream));
}
inline aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return aclrtCreateStream(stream);
}
inline aclError aclrtDestroyStream(aclrtStream stream) {
  return npuStreamDestroy(static_cast<npuStream_t>(stream));
}
inline aclError aclrtSynchronizeStream(aclrtStream stream) {
  return stream == nullptr ? npuDeviceSynchronize()
                           : npuStreamSynchronize(static_cast<npuStream_t>(stream));
}
inline aclError aclrtCreateEvent(aclrtEvent* event) {
  return npuEventCreate(reinterpret_cast<npuEvent_t*>(event));
}
inline aclError aclrtDestroyEvent(aclrtEvent event) {
  return npuEventDestroy(static_cast<npuEvent_t>(event));
}
inline aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return npuEventRecord(static_cast<npuEvent_t>(event), static_cast<npuStream_t>(stream));
}
inline aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return npuEventSynchronize(static_cast<npuEvent_t>(event));
}
inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return npuStreamWaitEvent(static_cast<npuStream_t>(stream), static_cast<npuEvent_t>(event));
}
inline aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  return npuEventElapsedTime(milliseconds, static_cast<npuEvent_t>(start),
                             static_cast<npuEvent_t>(end));
}

// --- memory ---

/// Allocates on the current device; as on the chip, in units of 2 MiB with huge pages.
inline aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  constexpr size_t kUnit = size_t{2} << 20;
  return npuMalloc(pointer, (std::max<size_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit);
}
inline aclError aclrtFree(void* pointer) { return npuFree(pointer); }
inline aclError aclrtMallocHost(void** pointer, size_t bytes) {
  *pointer = std::malloc(std::max<size_t>(bytes, 1));
  return *pointer != nullptr ? ACL_SUCCESS : NPU_ERROR_OUT_OF_MEMORY;
}
inline aclError aclrtFreeHost(void* pointer) {
  std::free(pointer);
  return ACL_SUCCESS;
}

/// Copies after all queued work of the current device has run. An error when count does not fit the
/// destination.
inline aclError aclrtMemcpy(void* to, size_t to_bytes, const void* from, size_t count,
                            aclrtMemcpyKind) {
  if (count > to_bytes) return ACL_ERROR_INVALID_PARAM;
  if (const aclError error = npuDeviceSynchronize(); error != ACL_SUCCESS) return error;
  std::memcpy(to, from, count);
  return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void* to, size_t to_bytes, const void* from, size_t count,
                                 aclrtMemcpyKind, aclrtStream stream) {
  if (count > to_bytes) return ACL_ERROR_INVALID_PARAM;
  if (const aclError error = aclrtSynchronizeStream(stream); error != ACL_SUCCESS) return error;
  std::memcpy(to, from, count);
  return ACL_SUCCESS;
}
inline aclError aclrtMemset(void* to, size_t to_bytes, int32_t value, size_t count) {
  if (count > to_bytes) return ACL_ERROR_INVALID_PARAM;
  if (const aclError error = npuDeviceSynchronize(); error != ACL_SUCCESS) return error;
  std::memset(to, value, count);
  return ACL_SUCCESS;
}
