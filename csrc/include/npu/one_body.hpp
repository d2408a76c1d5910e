// SPDX-License-Identifier: Apache-2.0
// NPU_ONE_BODY(<declaration>) { ... } defines a function that is no template and never inlined,
// most of all one that writes the sentence of a fault: the strings of those are most of what a
// small kernel costs to compile. So a kernel that is compiled while a program runs defines
// NPU_BODIES_ELSEWHERE and is linked to an object file of the same headers that was compiled once,
// with NPU_BODIES_HERE.
#pragma once

#if defined(NPU_BODIES_ELSEWHERE)
// The text that follows becomes the body of a template that nobody instantiates.
#define NPU_ONE_BODY(...) \
  __VA_ARGS__;            \
  template <int kNever>   \
  __VA_ARGS__
#elif defined(NPU_BODIES_HERE)
#define NPU_ONE_BODY(...) __attribute__((noinline, used)) inline __VA_ARGS__
#else
#define NPU_ONE_BODY(...) __attribute__((noinline)) inline __VA_ARGS__
#endif

/// Of a function that throws, always.
#define NPU_RAISES __attribute__((noreturn, cold))
