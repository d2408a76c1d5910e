// SPDX-License-Identifier: Apache-2.0
// The part of the vendor's runtime below acl.h that programs with tile kernels use. Its functions
// have C names: some programs declare them themselves, and take them from libhcomm.so.
#pragma once

#include <cstdint>

#include "npu/stream.hpp"
#include "npu_runtime.h"

using rtError_t = int32_t;
using rtStream_t = void*;
inline constexpr rtError_t RT_ERROR_NONE = 0;
inline constexpr int32_t RT_STREAM_PRIORITY_DEFAULT = 0;  // streams have no priorities here

extern "C" {

/// Where flags between cores lie, for set_ffts_base_addr.
inline rtError_t rtGetC2cCtrlAddr(uint64_t* address, uint32_t* bytes) {
  return npuGetCrossCoreAddress(address, bytes);
}

inline rtError_t rtSetDevice(int32_t device) { return npuSetDevice(device); }
inline rtError_t rtDeviceReset(int32_t) { return RT_ERROR_NONE; }
/// Cube cores, each with its vector cores.
inline rtError_t rtGetAiCoreCount(uint32_t* count) {
  int cube = 0, vector = 0;
  const rtError_t error = npuGetCoreCount(&cube, &vector);
  if (error == RT_ERROR_NONE && count != nullptr) *count = static_cast<uint32_t>(cube);
  return error;
}

inline rtError_t rtStreamCreate(rtStream_t* stream, int32_t /*priority*/) {
  return npuStreamCreate(reinterpret_cast<npuStream_t*>(stream));
}
inline rtError_t rtStreamDestroy(rtStream_t stream) {
  return npuStreamDestroy(static_cast<npuStream_t>(stream));
}
inline rtError_t rtStreamSynchronize(rtStream_t stream) {
  npuStream_t resolved = nullptr;
  const rtError_t error = npu::ResolveStream(stream, &resolved);
  return error != RT_ERROR_NONE ? error : npuStreamSynchronize(resolved);
}

}  // extern "C"
