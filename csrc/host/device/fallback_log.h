// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/operator_name.h>
#include <c10/macros/Macros.h>

#include <atomic>

namespace npu_backend {

/// How many logs of npu_backend.fallback_log are open.
extern std::atomic<int> open_fallback_logs;

void CountFallback(const c10::OperatorName& name);

/// To be called where a CPU kernel runs on memory of npu.
inline void LogFallback(const c10::OperatorName& name) {
  if (C10_UNLIKELY(open_fallback_logs.load(std::memory_order_relaxed) > 0)) CountFallback(name);
}

}  // namespace npu_backend
