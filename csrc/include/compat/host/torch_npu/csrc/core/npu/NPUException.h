// SPDX-License-Identifier: Apache-2.0
// Errors of the vendor's runtime interface as exceptions of PyTorch.
#pragma once

#include <c10/util/Exception.h>

#include <string>

#include "acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

enum class SubModule { PTA = 0, OPS = 1, DIST = 2, GRAPH = 3, PROF = 4 };

enum class ErrCode {
  SUC = 0,
  PARAM = 1,
  TYPE = 2,
  VALUE = 3,
  PTR = 4,
  INTERNAL = 5,
  MEMORY = 6,
  NOT_SUPPORT = 7,
  NOT_FOUND = 8,
  UNAVAIL = 9,
  SYSCALL = 10,
  TIMEOUT = 11,
  PERMISSION = 12,
};

/// What packages add to their sentences: the part of the program, and a number.
inline std::string formatErrorCode(SubModule module, ErrCode code) {
  constexpr const char* kNames[] = {"PTA", "OPS", "DIST", "GRAPH", "PROF"};
  return std::string("\n[ERROR] ") + kNames[static_cast<int>(module)] + " " +
         std::to_string(static_cast<int>(code));
}
#define PTA_ERROR(error) formatErrorCode(SubModule::PTA, error)
#define OPS_ERROR(error) formatErrorCode(SubModule::OPS, error)
#define DIST_ERROR(error) formatErrorCode(SubModule::DIST, error)

/// Raises the sentence of a call that has failed.
#define NPU_CHECK_ERROR(call, ...)                                                      \
  do {                                                                                  \
    const auto npu_error_of_call = (call);                                              \
    TORCH_CHECK(npu_error_of_call == ACL_SUCCESS, #call ": expected ACL_SUCCESS, got ", \
                static_cast<int>(npu_error_of_call), " (", ::npuGetLastErrorMessage(),  \
                ")", ##__VA_ARGS__);                                                    \
  } while (false)
#define NPU_CHECK_ERROR_WITHOUT_UCE(call, ...) NPU_CHECK_ERROR(call, ##__VA_ARGS__)
#define OPS_CHECK_ERROR(call, ...) NPU_CHECK_ERROR(call, ##__VA_ARGS__)
/// Warns of it.
#define NPU_CHECK_WARN(call)                                                                      \
  do {                                                                                            \
    const auto npu_error_of_call = (call);                                                        \
    if (npu_error_of_call != ACL_SUCCESS) {                                                       \
      TORCH_WARN(#call ": expected ACL_SUCCESS, got ", static_cast<int>(npu_error_of_call), " (", \
                 ::npuGetLastErrorMessage(), ")");                                                \
    }                                                                                             \
  } while (false)
