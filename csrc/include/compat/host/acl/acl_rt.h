// SPDX-License-Identifier: Apache-2.0
// Devices, streams, events and memory of the vendor's runtime interface; acl.h says how.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "acl/acl_base.h"
#ifdef __CPU_SIM
#include "npu/host_core.hpp"
#endif
#include "npu/stream.hpp"
#include "npu_runtime.h"

// --- devices ---

inline aclError aclrtSetDevice(int32_t device) { return npuSetDevice(device); }
inline aclError aclrtGetDevice(int32_t* device) { return npuGetDevice(device); }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtGetDeviceCount(uint32_t* count) {
  aclError error = npu::CheckAclPointer("aclrtGetDeviceCount", "the count", count);
  int devices = 0;
  if (error == ACL_SUCCESS) error = npuGetDeviceCount(&devices);
  if (error == ACL_SUCCESS) *count = static_cast<uint32_t>(devices);
  return error;
}
inline aclError aclrtSynchronizeDevice() { return npuDeviceSynchronize(); }
/// No time limit is kept: a kernel that makes no progress is stopped by itself.
inline aclError aclrtSynchronizeDeviceWithTimeout(int32_t) { return npuDeviceSynchronize(); }
inline const char* aclrtGetSocName() {
  const char* name = nullptr;
  return npuGetSocName(&name) == NPU_SUCCESS ? name : nullptr;
}

/// What aclrtGetDeviceInfo tells, with the vendor's numbers.
enum aclrtDevAttr {
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
};
/// All devices are the one system on chip of NPU_SOC. An AI core is a cube core with its vector
/// cores.
inline aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value) {
  constexpr const char* kWhere = "aclrtGetDeviceInfo";
  uint32_t devices = 0;
  int cube = 0, vector = 0;
  aclError error = npu::CheckAclPointer(kWhere, "the value", value);
  if (error == ACL_SUCCESS) error = aclrtGetDeviceCount(&devices);
  if (error == ACL_SUCCESS) error = npuGetCoreCount(&cube, &vector);
  if (error != ACL_SUCCESS) return error;
  if (device >= devices) {
    return npu::InvalidAclParam(kWhere, "a device below " + std::to_string(devices),
                                std::to_string(device));
  }
  switch (attribute) {
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      *value = cube;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = vector;
      return ACL_SUCCESS;
  }
  return npu::InvalidAclParam(kWhere, "an attribute that counts cores", std::to_string(attribute));
}

enum aclrtRunMode { ACL_DEVICE, ACL_HOST };
/// Programs run on the host.
inline aclError aclrtGetRunMode(aclrtRunMode* mode) {
  const aclError error = npu::CheckAclPointer("aclrtGetRunMode", "the mode", mode);
  if (error == ACL_SUCCESS) *mode = ACL_HOST;
  return error;
}

/// Address that a kernel of cube and vector cores is told for the flags between them.
inline aclError aclrtGetHardwareSyncAddr(void** address) {
  uint64_t found = 0;
  uint32_t bytes = 0;
  aclError error = npu::CheckAclPointer("aclrtGetHardwareSyncAddr", "the address", address);
  if (error == ACL_SUCCESS) error = npuGetCrossCoreAddress(&found, &bytes);
  if (error == ACL_SUCCESS) *address = reinterpret_cast<void*>(found);
  return error;
}

// --- contexts: a device, as a number above 0 ---

inline aclError aclrtGetCurrentContext(aclrtContext* context) {
  int device = 0;
  aclError error = npu::CheckAclPointer("aclrtGetCurrentContext", "the context", context);
  if (error == ACL_SUCCESS) error = npuGetDevice(&device);
  if (error == ACL_SUCCESS) *context = reinterpret_cast<void*>(intptr_t{device} + 1);
  return error;
}
inline aclError aclrtSetCurrentContext(aclrtContext context) {
  const aclError error = npu::CheckAclPointer("aclrtSetCurrentContext", "a context", context);
  if (error != ACL_SUCCESS) return error;
  return npuSetDevice(static_cast<int>(reinterpret_cast<intptr_t>(context) - 1));
}
inline aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
  aclError error = npu::CheckAclPointer("aclrtCreateContext", "the context", context);
  if (error == ACL_SUCCESS) error = npuSetDevice(device);
  return error != ACL_SUCCESS ? error : aclrtGetCurrentContext(context);
}
inline aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }

// --- streams and events ---

inline constexpr uint32_t ACL_STREAM_FAST_LAUNCH = 1;
inline constexpr uint32_t ACL_STREAM_FAST_SYNC = 2;
inline constexpr uint32_t ACL_EVENT_SYNC = 1;
inline constexpr uint32_t ACL_EVENT_TIME_LINE = 8;

enum aclrtStreamStatus { ACL_STREAM_STATUS_COMPLETE, ACL_STREAM_STATUS_NOT_READY };
enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY,
  ACL_EVENT_RECORDED_STATUS_COMPLETE
};

enum aclrtStreamAttr { ACL_STREAM_ATTR_FAILURE_MODE = 1 };
union aclrtStreamAttrValue {
  uint64_t failureMode;
};
enum aclrtCallbackBlockType { ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK };
using aclrtCallback = void (*)(void*);

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
#ifdef __CPU_SIM
  npu::EndHostKernel();  // kernels that this thread called have ended
#endif
  return error != ACL_SUCCESS ? error : npuStreamSynchronize(resolved);
}
/// No time limit is kept: a kernel that makes no progress is stopped by itself.
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t) {
  return aclrtSynchronizeStream(stream);
}
inline aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  npuStream_t resolved = nullptr;
  aclError error = npu::CheckAclPointer("aclrtStreamQuery", "the status", status);
  if (error == ACL_SUCCESS) error = npu::ResolveStream(stream, &resolved);
  if (error == ACL_SUCCESS) error = npuStreamQuery(resolved);
  if (error != ACL_SUCCESS && error != NPU_ERROR_NOT_READY) return error;
  *status = error == ACL_SUCCESS ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}
/// What is queued behind a fault is dropped, whatever the failure mode is.
inline aclError aclrtSetStreamAttribute(aclrtStream, aclrtStreamAttr attribute,
                                        aclrtStreamAttrValue* value) {
  constexpr const char* kWhere = "aclrtSetStreamAttribute";
  if (attribute != ACL_STREAM_ATTR_FAILURE_MODE) {
    return npu::InvalidAclParam(kWhere, "ACL_STREAM_ATTR_FAILURE_MODE", std::to_string(attribute));
  }
  return npu::CheckAclPointer(kWhere, "the value", value);
}
/// Queues function(argument) on stream. It must not wait for streams or events.
inline aclError aclrtLaunchCallback(aclrtCallback function, void* argument, aclrtCallbackBlockType,
                                    aclrtStream stream) {
  npuStream_t resolved = nullptr;
  const aclError error = npu::ResolveStream(stream, &resolved);
  return error != ACL_SUCCESS ? error : npuLaunchHostFunction(resolved, function, argument);
}
inline aclError aclrtCreateEvent(aclrtEvent* event) {
  return npuEventCreate(reinterpret_cast<npuEvent_t*>(event));
}
inline aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) {
  return aclrtCreateEvent(event);
}
inline aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
  return aclrtCreateEvent(event);
}
/// The newest record of an event counts: there is nothing to reset.
inline aclError aclrtResetEvent(aclrtEvent, aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  aclError error = npu::CheckAclPointer("aclrtQueryEventStatus", "the status", status);
  if (error == ACL_SUCCESS) error = npuEventQuery(static_cast<npuEvent_t>(event));
  if (error != ACL_SUCCESS && error != NPU_ERROR_NOT_READY) return error;
  *status = error == ACL_SUCCESS ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                 : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
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

/// Bits that do not change what memory is here. The last two are added to the others.
enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
};
enum aclrtMallocAttrType { ACL_RT_MEM_ATTR_RSV, ACL_RT_MEM_ATTR_MODULE_ID };
union aclrtMallocAttrValue {
  uint16_t moduleId;
  uint32_t deviceId;
};
struct aclrtMallocAttribute {
  aclrtMallocAttrType attr;
  aclrtMallocAttrValue value;
};
struct aclrtMallocConfig {
  aclrtMallocAttribute* attrs;
  size_t numAttrs;
};

enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE,
  ACL_MEMCPY_DEFAULT,
};
enum aclrtMemAttr { ACL_DDR_MEM, ACL_HBM_MEM };

/// Allocates on the current device; as on the chip, in units of 2 MiB with huge pages.
inline aclError aclrtMalloc(void** pointer, size_t bytes, aclrtMemMallocPolicy) {
  constexpr size_t kUnit = size_t{2} << 20;
  if (bytes > SIZE_MAX - kUnit) return npuMalloc(pointer, bytes);  // more than there is
  return npuMalloc(pointer, (std::max<size_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit);
}
inline aclError aclrtMallocAlign32(void** pointer, size_t bytes, aclrtMemMallocPolicy policy) {
  return aclrtMalloc(pointer, bytes, policy);
}
/// The configuration says who uses the memory; nobody here asks.
inline aclError aclrtMallocWithCfg(void** pointer, size_t bytes, aclrtMemMallocPolicy policy,
                                   aclrtMallocConfig*) {
  return aclrtMalloc(pointer, bytes, policy);
}
inline aclError aclrtGetMemInfo(aclrtMemAttr, size_t* free_bytes, size_t* total_bytes) {
  return npuMemGetInfo(free_bytes, total_bytes);
}
inline aclError aclrtFree(void* pointer) { return npuFree(pointer); }
/// Zero at first, as pages that a driver pins are.
inline aclError aclrtMallocHost(void** pointer, size_t bytes) {
  const aclError error = npu::CheckAclPointer("aclrtMallocHost", "the address", pointer);
  if (error != ACL_SUCCESS) return error;
  *pointer = std::calloc(std::max<size_t>(bytes, 1), 1);
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
inline aclError aclrtMemsetAsync(void* to, size_t to_bytes, int32_t value, size_t count,
                                 aclrtStream stream) {
  aclError error = npu::CheckAclRange("aclrtMemsetAsync", to, to_bytes, to, count);
  if (error == ACL_SUCCESS) error = aclrtSynchronizeStream(stream);
  if (error != ACL_SUCCESS) return error;
  if (count != 0) std::memset(to, value, count);
  return ACL_SUCCESS;
}
