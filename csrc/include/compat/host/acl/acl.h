// SPDX-License-Identifier: Apache-2.0
// The part of the vendor's runtime interface that programs with tile kernels use, over
// npu_runtime.h. Errors are the numbers of npuError_t, or ACL_ERROR_INVALID_PARAM;
// aclGetRecentErrMsg gives the sentence. A null stream is the default one of the current device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "npu/half.hpp"
#include "npu/stream.hpp"
#include "npu_runtime.h"

using aclError = int;
using aclrtStream = void*;
using aclrtEvent = void*;
using aclrtContext = void*;
using aclFloat16 = uint16_t;  // the bits of a half

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

namespace npu {

/// ACL_ERROR_INVALID_PARAM with "function: expected <expected>, got <got>".
inline aclError InvalidAclParam(const char* function, const std::string& expected,
                                const std::string& got) {
  npuSetLastErrorMessage(
      (std::string(function) + ": expected " + expected + ", got " + got).c_str());
  return ACL_ERROR_INVALID_PARAM;
}

/// Whether count bytes from from (not looked at when a memset gives to for it) fit to_bytes at to.
inline aclError CheckAclRange(const char* function, const void* to, size_t to_bytes,
                              const void* from, size_t count) {
  if (count > to_bytes) {
    return InvalidAclParam(function,
                           "at most the " + std::to_string(to_bytes) + " bytes of the destination",
                           std::to_string(count));
  }
  if (count != 0 && (to == nullptr || from == nullptr)) {
    return InvalidAclParam(function, "memory for " + std::to_string(count) + " bytes", "NULL");
  }
  return ACL_SUCCESS;
}

}  // namespace npu

inline float aclFloat16ToFloat(aclFloat16 value) {
  half number;
  std::memcpy(&number, &value, sizeof(number));
  return static_cast<float>(number);
}

inline aclFloat16 aclFloatToFloat16(float value) {
  const auto number = static_cast<half>(value);
  aclFloat16 bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
/// Sentence of the last failed call of this thread.
inline const char* aclGetRecentErrMsg() { return npuGetLastErrorMessage(); }

// --- devices ---

inline aclError aclrtSetDevice(int32_t device) { return npuSetDevice(device); }
inline aclError aclrtGetDevice(int32_t* device) { return npuGetDevice(device); }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) {
    return npu::InvalidAclParam("aclrtGetDeviceCount", "a pointer for the count", "NULL");
  }
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
  npuStream_t resolved = nullptr;
  const aclError error = npu::ResolveStream(stream, &resolved);
  return error != ACL_SUCCESS ? error : npuStreamSynchronize(resolved);
}
inline aclError aclrtCreateEvent(aclrtEvent* event) {
  return npuEventCreate(reinterpret_cast<npuEvent_t*>(event));
}
inline aclError aclrtDestroyEvent(aclrtEvent event) {
  return npuEventDestroy(static_cast<npuEvent_t>(event));
}
inline aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  npuStream_t resolved = nullptr;
  const aclError error = npu::ResolveStream(stream, &resolved);
  return error != ACL_SUCCESS ? error : npuEventRecord(static_cast<npuEvent_t>(event), resolved);
}
inline aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return npuEventSynchronize(static_cast<npuEvent_t>(event));
}
inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  npuStream_t resolved = nullptr;
  const aclError error = npu::ResolveStream(stream, &resolved);
  return error != ACL_SUCCESS ? error
                              : npuStreamWaitEvent(resolved, static_cast<npuEvent_t>(event));
}
inline aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  return npuEventElapsedTime(milliseconds, static_cast<npuEvent_t>(start),
                             static_cast<npuEvent_t>(end));
}

// --- memory ---

/// Allocates on the current device; as on the chip, in units of 2 MiB with huge pages.
inline aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  constexpr size_t kUnit = size_t{2} << 20;
  if (bytes > SIZE_MAX - kUnit) return npuMalloc(pointer, bytes);  // more than there is
  return npuMalloc(pointer, (std::max<size_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit);
}
inline aclError aclrtFree(void* pointer) { return npuFree(pointer); }
inline aclError aclrtMallocHost(void** pointer, size_t bytes) {
  if (pointer == nullptr) {
    return npu::InvalidAclParam("aclrtMallocHost", "a pointer for the address", "NULL");
  }
  *pointer = std::malloc(std::max<size_t>(bytes, 1));
  if (*pointer != nullptr) return ACL_SUCCESS;
  const std::string wanted = std::to_string(bytes);
  npuSetLastErrorMessage(
      ("aclrtMallocHost: expected " + wanted + " bytes of the host, got none").c_str());
  return NPU_ERROR_OUT_OF_MEMORY;
}
inline aclError aclrtFreeHost(void* pointer) {
  std::free(pointer);
  return ACL_SUCCESS;
}

/// Copies after all queued work of the current device has run. An error when count does not fit the
/// destination.
inline aclError aclrtMemcpy(void* to, size_t to_bytes, const void* from, size_t count,
                            aclrtMemcpyKind) {
  aclError error = npu::CheckAclRange("aclrtMemcpy", to, to_bytes, from, count);
  if (error == ACL_SUCCESS) error = npuDeviceSynchronize();
  if (error != ACL_SUCCESS) return error;
  if (count != 0) std::memcpy(to, from, count);
  return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void* to, size_t to_bytes, const void* from, size_t count,
                                 aclrtMemcpyKind, aclrtStream stream) {
  aclError error = npu::CheckAclRange("aclrtMemcpyAsync", to, to_bytes, from, count);
  if (error == ACL_SUCCESS) error = aclrtSynchronizeStream(stream);
  if (error != ACL_SUCCESS) return error;
  if (count != 0) std::memcpy(to, from, count);
  return ACL_SUCCESS;
}
/// What caches are told about memory. Emulated ones are coherent: nothing is done.
enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH,
  ACL_RT_CMO_TYPE_WRITEBACK,
  ACL_RT_CMO_TYPE_INVALID,
  ACL_RT_CMO_TYPE_FLUSH
};
inline aclError aclrtCmoAsync(void* memory, size_t bytes, aclrtCmoType, aclrtStream) {
  return npu::CheckAclRange("aclrtCmoAsync", memory, bytes, memory, bytes);
}
inline aclError aclrtMemset(void* to, size_t to_bytes, int32_t value, size_t count) {
  aclError error = npu::CheckAclRange("aclrtMemset", to, to_bytes, to, count);
  if (error == ACL_SUCCESS) error = npuDeviceSynchronize();
  if (error != ACL_SUCCESS) return error;
  if (count != 0) std::memset(to, value, count);
  return ACL_SUCCESS;
}
