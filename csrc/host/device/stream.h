// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>
#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>

#include "device/device.h"
#include "device/registration.h"
#include "npu_runtime.h"

/// Streams, and what the host file of an operator needs to launch a kernel.
namespace npu_backend {

/// The stream of this thread on device, as PyTorch counts it and as the runtime does.
NPU_BACKEND_API c10::Stream CurrentStream(c10::DeviceIndex device);
NPU_BACKEND_API void SetCurrentStream(c10::Stream stream);
/// Raises for a stream that is not there.
void CheckStream(c10::Stream stream);
NPU_BACKEND_API npuStream_t NativeStream(c10::Stream stream);
NPU_BACKEND_API npuStream_t CurrentNativeStream(c10::DeviceIndex device);

/// One of 32 streams per device, in turn.
NPU_BACKEND_API c10::Stream StreamFromPool(c10::DeviceIndex device);

/// Waits for the current stream of device; cheap when nothing is pending. Whoever reads or writes
/// memory of the device on the host calls it first. Raises the fault of a kernel that has run
/// there.
NPU_BACKEND_API void Drain(c10::DeviceIndex device);

/// Launches kernel for output, which lies on npu or on CPU.
///   npu: enqueues on the current stream of its device and returns. The launch owns the memory of
///   output and of each
///        tensor of keep_alive until it has run.
///   cpu: the same kernel on CPU memory, on the default stream of device 0, and has run when the
///   call returns.
/// args: the parameters of the kernel, laid out as in a C struct. flags: NPU_LAUNCH_...
NPU_BACKEND_API void Launch(npuKernel_t kernel, uint32_t block_dim, const void* args,
                            size_t args_bytes, const at::Tensor& output,
                            c10::ArrayRef<at::Tensor> keep_alive, uint32_t flags = 0);

}  // namespace npu_backend
