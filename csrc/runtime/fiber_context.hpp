// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(NPU_FIBER_UCONTEXT) && (defined(__x86_64__) || defined(__aarch64__))
#define NPU_FIBER_ASSEMBLY 1
#else
#define NPU_FIBER_ASSEMBLY 0
#include <ucontext.h>
#endif

namespace npu::runtime {

/// Where a suspended fiber goes on: its stack pointer, with the registers that a call preserves
/// saved on its stack.
struct FiberContext {
#if NPU_FIBER_ASSEMBLY
  void* stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
};

/// Makes context start entry(argument) on the stack [stack, stack + bytes). entry must not return.
void PrepareContext(FiberContext& context, void* stack, size_t bytes, void (*entry)(void*),
                    void* argument);

/// Suspends the caller in from and resumes to. Keeps rounding mode and exception masks of both.
void SwitchContext(FiberContext& from, FiberContext& to);

}  // namespace npu::runtime
