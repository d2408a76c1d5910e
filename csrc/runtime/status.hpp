// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/npu_runtime.h"

namespace npu::runtime {

/// An error code of the C ABI and its sentence.
struct Status {
  npuError_t code = NPU_SUCCESS;
  std::string message;
  uint64_t findings = 0;  // of NPU_ERROR_HAZARD: message is about the first
};

/// Keeps message for npuGetLastErrorMessage of this thread and returns code.
npuError_t Fail(npuError_t code, std::string message);
inline npuError_t Fail(Status status) { return Fail(status.code, std::move(status.message)); }

const char* LastErrorMessage();

/// NPU_ERROR_INVALID_VALUE with "function: expected <expected>, got <got>".
template <class Expected, class Got>
[[gnu::noinline, gnu::cold]] npuError_t Invalid(const char* function, const Expected& expected,
                                                const Got& got) {
  std::ostringstream text;
  text << function << ": expected " << expected << ", got " << got;
  return Fail(NPU_ERROR_INVALID_VALUE, text.str());
}

/// Runs body, as body(function) where it takes the name; no exception leaves the C ABI.
template <class Body>
npuError_t Bounded(const char* function, Body&& body) {
  try {
    if constexpr (std::is_invocable_v<Body&, const char*>) {
      return body(function);
    } else {
      return body();
    }
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being cancelled
  } catch (const std::bad_alloc&) {
    return Fail(NPU_ERROR_OUT_OF_MEMORY,
                std::string(function) + ": expected memory of the host, got none");
  } catch (const std::exception& error) {
    return Invalid(function, "no exception", error.what());
  } catch (...) {
    return Invalid(function, "no exception", "one of an unknown type");
  }
}

}  // namespace npu::runtime
