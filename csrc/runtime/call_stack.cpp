// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_stack.hpp"

#include <unwind.h>

#include <cstddef>
#include <cstdint>

namespace npu::runtime {
namespace {

constexpr size_t kMostCalls = 16;

_Unwind_Reason_Code Add(_Unwind_Context* context, void* calls) {
  auto& list = *static_cast<std::vector<const void*>*>(calls);
  const uintptr_t address = _Unwind_GetIP(context);
  if (address == 0 || list.size() == kMostCalls) return _URC_END_OF_STACK;
  list.push_back(reinterpret_cast<const void*>(address));
  return _URC_NO_REASON;
}

}  // namespace

std::vector<const void*> CallsOfThisThread() {
  std::vector<const void*> calls;
  calls.reserve(kMostCalls);
  _Unwind_Backtrace(&Add, &calls);
  return calls;
}

}  // namespace npu::runtime
