// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

/// Memory of the device that processes share: it is that of a CPU storage which PyTorch has put
/// into shared memory, so that PyTorch's ways to send such a storage serve.
namespace npu_backend {

/// Held around fork(), so that the child can drop its references. Who holds it must not take the
/// interpreter's lock, which os.fork() holds: references to storages are taken and dropped outside.
std::mutex& SharedMemoryMutex();

}  // namespace npu_backend
