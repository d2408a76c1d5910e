/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program's view of the runtime: compiled with -std=c11 -Wpedantic -Werror. */
#include "npu_runtime.h"

static int runs;

static void CountRun(const void* args) {
  (void)args;
  ++runs;
}

static const npuKernelPass kPass = {&CountRun, 0, 0};
static const npuKernel kKernel = {"c_kernel", &kPass, NULL};

/* Blocks of a kernel written in C that have run; -1 when a call failed. */
int RunFromC(uint32_t blocks) {
  npuStream_t stream = NULL;
  npuLaunchConfig config = {0};
  if (npuStreamGetDefault(0, &stream) != NPU_SUCCESS) return -1;
  config.kernel = &kKernel;
  config.block_dim = blocks;
  config.stream = stream;
  if (npuLaunchKernelWithConfig(&config) != NPU_SUCCESS) return -1;
  if (npuStreamSynchronize(stream) != NPU_SUCCESS) return -1;
  return runs;
}
