// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include "npu_runtime.h"

namespace npu_backend {

/// Enqueues config on its stream. The launch owns the memory of the npu tensors among tensors until
/// it has run.
void LaunchHolding(npuLaunchConfig& config, c10::ArrayRef<at::Tensor> tensors);

/// Launches config, on the default stream of device 0 unless it names one, and waits for it.
void LaunchOnHostMemory(npuLaunchConfig& config);

/// The memory that a kernel may use for tensor: its storage, with what the allocator of npu adds to
/// make whole cache lines.
npuMemoryRange StorageRange(const at::Tensor& tensor);

}  // namespace npu_backend
