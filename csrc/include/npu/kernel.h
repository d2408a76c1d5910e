/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel library exports, one npuKernel named npu_kernel_<name> per kernel. C11-clean. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One compile pass (vector or cube) of a kernel. */
typedef struct npuKernelPass {
  void (*run)(const void* args); /* args: the parameters in order, each naturally aligned, as in a C
                                    struct */
  size_t args_bytes;
  uint64_t core_layout; /* npu::kCoreLayout of the headers that the pass was compiled with; 0: it
                           uses none of them */
} npuKernelPass;

/** A kernel. With both passes a block is one cube core and two vector cores that run at the same
 * time. */
typedef struct npuKernel {
  const char* name;
  const npuKernelPass* vector; /* NULL when the kernel has no vector pass */
  const npuKernelPass* cube;   /* NULL when the kernel has no cube pass */
} npuKernel;

typedef const npuKernel* npuKernel_t;

typedef enum npuTypeKind {
  NPU_TYPE_OTHER = 0, /* a struct, void, a pointer to a pointer */
  NPU_TYPE_BOOL = 1,
  NPU_TYPE_INT = 2,
  NPU_TYPE_UINT = 3,
  NPU_TYPE_FLOAT = 4, /* IEEE 754 of 2, 4 or 8 bytes */
  NPU_TYPE_BFLOAT16 = 5
} npuTypeKind;

/** A parameter of a kernel. */
typedef struct npuParameter {
  const char* spelling; /* ends in "T = <type>]" (or "; ..."), the compiler's name of the type
                           without pointer */
  size_t offset;        /* in the args of a launch */
  uint32_t bytes;       /* of the value, or of what it points to; 0: void */
  npuTypeKind kind;     /* of the value, or of what it points to */
  uint8_t is_pointer;
  uint8_t is_const; /* what it points to */
} npuParameter;

/** What a pass takes. */
typedef struct npuSignature {
  const npuParameter* parameters;
  size_t count;
} npuSignature;

#ifdef __cplusplus
}
#endif
