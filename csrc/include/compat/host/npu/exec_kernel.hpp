// SPDX-License-Identifier: Apache-2.0
// EXEC_KERNEL_CMD and EXEC_KERNEL_ASYNC: launches under the names that PTO's own documents use,
// over npu/launch_kernel.hpp. A project that has a macro of these names does not include this
// header.
#pragma once

#include <c10/core/Stream.h>

#include <type_traits>

#include "npu/launch_kernel.hpp"
#include "torch_npu/csrc/core/npu/NPUStream.h"

/// Runs kernel in blocks blocks on the current stream of the tensors' device, as NPU_LAUNCH_KERNEL
/// does: a tensor for a pointer, which stands for its first element, storage offset included, and
/// whose memory the launch owns until it has run. Beyond that a pointer is taken, too; since nobody
/// holds its memory, the kernel has run then when the call returns.
#define EXEC_KERNEL_CMD(kernel, blocks, ...) \
  ::npu::Exec<&kernel>(#kernel, nullptr, true, blocks, __VA_ARGS__)

/// The same on stream (a c10_npu::NPUStream, a c10::Stream or an aclrtStream), which must be one of
/// the tensors' device. It never waits: the memory of pointers must live until the kernel has run.
#define EXEC_KERNEL_ASYNC(kernel, blocks, stream, ...) \
  ::npu::Exec<&kernel>(#kernel, ::npu::NativeStream(stream), false, blocks, __VA_ARGS__)

namespace npu {

inline npuStream_t NativeStream(aclrtStream stream) { return static_cast<npuStream_t>(stream); }
inline npuStream_t NativeStream(const c10_npu::NPUStream& stream) {
  return NativeStream(stream.stream());
}
inline npuStream_t NativeStream(const c10::Stream& stream) {
  return NativeStream(c10_npu::NPUStream(stream));
}

/// argument, or as a RawAddress when it is a pointer.
template <class Argument>
decltype(auto) AsArgument(const Argument& argument) {
  if constexpr (std::is_pointer_v<Argument>) {
    return RawAddress<std::remove_pointer_t<Argument>>{argument};
  } else {
    return (argument);
  }
}

template <auto* kFunction, class... Arguments>
void Exec(const char* name, npuStream_t stream, bool waits_for_raw, int64_t blocks,
          const Arguments&... arguments) {
  LaunchOptions options;
  options.stream = stream;
  options.waits_for_raw = waits_for_raw;
  KernelCall<kFunction>::Launch(name, options, blocks, AsArgument(arguments)...);
}

}  // namespace npu
