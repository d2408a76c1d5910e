/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller without torch needs to launch kernels on tensors: op_extension._runtime gets the
 * table from Python. A tensor is the address of its at::TensorImpl, which the caller keeps alive
 * during the call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "npu_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NPU_TENSOR_ON_CPU (-1)
#define NPU_TENSOR_ELSEWHERE (-2)

typedef struct npuTensorFacts {
  void* data;
  const char* dtype; /* "Float", for messages */
  npuTypeKind kind;
  uint32_t element_bytes;
  int32_t device; /* index of npu, or NPU_TENSOR_... */
  uint8_t is_contiguous;
  uint8_t shows_its_memory; /* 0: a conjugated or negated view, whose memory holds other values */
} npuTensorFacts;

typedef struct npuTensorInterface {
  /* Both return 0, or -1 with a sentence from message(). None throws. */
  int (*describe)(void* tensor, npuTensorFacts* facts);
  /*
   * Launches config->kernel with config->args on config->stream, or on the current stream of device
   * where it is NULL. device  as in the facts; with NPU_TENSOR_ON_CPU the kernel has run when the
   * call returns. The launch owns the memory of the tensors until it has run. release and owner of
   * config are not used.
   */
  int (*launch)(const npuLaunchConfig* config, int32_t device, void* const* tensors, size_t count);
  const char* (*message)(void);
} npuTensorInterface;

/** Exported by libnpu_backend.so. */
NPU_API const npuTensorInterface* npu_backend_tensor_interface(void);

#ifdef __cplusplus
}
#endif
