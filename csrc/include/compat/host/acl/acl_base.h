// SPDX-License-Identifier: Apache-2.0
// Types, errors and 16-bit floats of the vendor's runtime interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "npu/half.hpp"
#include "npu_runtime.h"

using aclError = int;
using aclrtStream = void*;
using aclrtEvent = void*;
using aclrtContext = void*;
#ifdef __CPU_SIM
using aclFloat16 = half;  // as programs for simulators want it
#else
using aclFloat16 = uint16_t;  // the bits of a half
#endif

inline constexpr aclError ACL_SUCCESS = 0;
inline constexpr aclError ACL_ERROR_NONE = 0;
inline constexpr aclError ACL_ERROR_INVALID_PARAM = 100000;
inline constexpr aclError ACL_ERROR_REPEAT_INITIALIZE = 100002;  // of programs that accept it

/// Element types, with the vendor's numbers.
enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
};

/// Layouts of tensors, with the vendor's numbers.
enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_FRACTAL_NZ = 29,
};

/// Bytes of an element; 0 where it has no whole ones.
inline size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

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

/// ACL_ERROR_INVALID_PARAM unless pointer, which function writes what to, is one.
inline aclError CheckAclPointer(const char* function, const char* what, const void* pointer) {
  if (pointer != nullptr) return ACL_SUCCESS;
  return InvalidAclParam(function, std::string("a pointer for ") + what, "NULL");
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
