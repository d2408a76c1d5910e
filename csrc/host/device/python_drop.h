// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/twin.h"

/// Dropping a storage that Python has seen takes the interpreter's lock. A thread that runs a queue
/// must not wait for it: whoever holds it may wait for the queue.
namespace npu_backend {

/// Drops storage: now if that waits for no lock, else soon, in the main thread.
void DropSeen(StoragePtr storage) noexcept;

/// Drops what waits for the main thread, which may sleep for long. Waits for the interpreter's
/// lock, so not for threads that run a queue or hold a mutex.
void DropDeferred() noexcept;

}  // namespace npu_backend
