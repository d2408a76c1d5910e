/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel library exports, one npuKernel named npu_kernel_<name> per kernel. C11-clean. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One compile pass (vector or cube) of a kernel. */
typedef struct npuKernelPass {
  void (*run)(const void* args); /* args: the parameters in order, each naturally aligned, as in a C
                                    struct */
  size_t args_bytes;
} npuKernelPass;

/** A kernel. With both passes a block is one cube core and two vector cores that run at the same
 * time. */
typedef struct npuKernel {
  const char* name;
  const npuKernelPass* vector; /* NULL when the kernel has no vector pass */
  const npuKernelPass* cube;   /* NULL when the kernel has no cube pass */
} npuKernel;

typedef const npuKernel* npuKernel_t;

#ifdef __cplusplus
}
#endif
